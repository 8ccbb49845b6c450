"""Folders as users have them: a tiny network's weights beside a tokenizer with one token a byte."""

from tiny_models import tiny_network
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2VLImageProcessorPil

END = "<|im_end|>"
PICTURE_TOKENS = (
    "<|image_pad|>",
    "<|vision_start|>",
    "<|vision_end|>",
)  # tiny_models' ids in order
QWEN_CHAT = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content | trim }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def byte_tokenizer(special=(), plain=()):
    """Bytes are ids 0 to 255 in an order of its own; then END, and what else is added, special or not."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    own = Tokenizer(models.BPE({letter: i for i, letter in enumerate(alphabet)}, []))
    own.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    own.decoder = decoders.ByteLevel()
    own.add_special_tokens([AddedToken(token, special=True) for token in (END, *special)])
    own.add_tokens([AddedToken(token, special=False) for token in plain])
    return PreTrainedTokenizerFast(tokenizer_object=own, eos_token=END)


def save_folder(path, network=None, tokenizer=None):
    (network or tiny_network()).save_pretrained(path)
    (tokenizer or byte_tokenizer()).save_pretrained(path)
    return path


def save_seeing_folder(path, family="qwen3_vl", patch_size=4):
    """With an image processor that takes pictures of 8 x 8 pixels and more."""
    save_folder(path, tiny_network(family), byte_tokenizer(special=PICTURE_TOKENS))
    size = {"shortest_edge": 64, "longest_edge": 4096}
    Qwen2VLImageProcessorPil(patch_size=patch_size, merge_size=2, size=size).save_pretrained(path)
    return path


def save_chatting_folder(path, family="qwen3_vl"):
    """One that sees, with a chat template in the manner of Qwen's own."""
    save_seeing_folder(path, family)
    (path / "chat_template.jinja").write_text(QWEN_CHAT, "utf-8")
    return path
