"""A real network that says what a table says: the next token's probabilities depend on the last token alone."""

import torch
from tiny_models import ByteTokenizer
from transformers import LlamaConfig, LlamaForCausalLM

from forethought.scorer.model import LanguageModel, wrap


def scripted_model(logits: torch.Tensor, tokenizer=None) -> LanguageModel:
    """`logits` (V, V): row t are the next token's after token t, in float64; a gap of 800 is a probability of exactly 1."""
    size = len(logits)
    config = LlamaConfig(
        vocab_size=size,
        hidden_size=size,
        intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        num_key_value_heads=1,
        head_dim=8,
        tie_word_embeddings=False,
        rms_norm_eps=0.0,
    )
    network = LlamaForCausalLM(config).double()
    with torch.no_grad():
        for layer in network.model.layers:  # what a layer adds is nothing
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
        network.model.embed_tokens.weight.copy_(torch.eye(size))
        network.lm_head.weight.copy_(logits.double().T / size**0.5)  # the norm scales by the root
    return wrap(network, tokenizer or ByteTokenizer(), "scripted", "0")
