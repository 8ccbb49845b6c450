"""The differentiable side of selection: likelihoods with gradients, and the objectives made of them."""
