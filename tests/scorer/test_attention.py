import pytest
import torch

from forethought.scorer.attention import (
    KERNELS,
    Partial,
    attend_part,
    attend_part_plainly,
    kernel_for,
    merge,
)

CPU = torch.device("cpu")


def drawn(dtype, length=4100, heads=(6, 2), width=16):
    generator = torch.Generator().manual_seed(1)
    query = torch.randn(1, heads[0], 7, width, generator=generator, dtype=torch.float64)
    keys, values = torch.randn(
        2, 1, heads[1], length, width, generator=generator, dtype=torch.float64
    )
    return query.to(dtype), keys.to(dtype), values.to(dtype)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-13)])
def test_two_merged_parts_are_one_softmax(dtype, tolerance):
    query, keys, values = drawn(dtype)
    split = 4096

    got = merge(
        attend_part(query, keys[:, :, :split], values[:, :, :split], 0.9),
        attend_part(query, keys[:, :, split:], values[:, :, split:], 0.9),
    )

    whole = attend_part_plainly(query.double(), keys.double(), values.double(), 0.9).output
    assert (got.double() - whole).abs().max() < tolerance


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-13)])
def test_the_kernel_agrees_with_its_plain_twin(dtype, tolerance, causal):
    query, keys, values = drawn(dtype, length=7)

    fast = attend_part(query, keys, values, 0.5, causal=causal)
    plain = attend_part_plainly(query, keys, values, 0.5, causal=causal)

    assert (fast.output - plain.output).abs().max() < tolerance
    assert (fast.log_mass - plain.log_mass).abs().max() < tolerance


def test_a_strided_log_sum_exp_merges_like_a_contiguous_one():
    query, keys, values = drawn(torch.float64, length=20)
    one = attend_part(query, keys[:, :, :9], values[:, :, :9], 0.5)
    other = attend_part(query, keys[:, :, 9:], values[:, :, 9:], 0.5)
    strided = Partial(other.output, other.log_mass.transpose(1, 2).contiguous().transpose(1, 2))

    assert torch.equal(merge(one, other), merge(one, strided))


def test_a_part_with_no_weight_changes_nothing():
    query, keys, values = drawn(torch.float32, length=20)
    one = attend_part(query, keys, values, 0.5)
    nothing = Partial(torch.full_like(one.output, 3.0), torch.full_like(one.log_mass, -1e30))

    assert torch.equal(merge(one, nothing), one.output)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_some_kernel_passes_its_check_here(dtype):
    assert kernel_for(dtype, CPU)


def test_a_kernel_that_is_missing_gives_way_to_the_next(monkeypatch):
    def missing(*_arguments, **_options):
        raise AttributeError("no such operator")

    monkeypatch.setitem(KERNELS, "cpu", (missing, attend_part_plainly))

    assert kernel_for.__wrapped__(torch.float32, CPU) is attend_part_plainly
