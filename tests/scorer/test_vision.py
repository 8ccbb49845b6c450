"""Contexts with pictures: against the model's own forward over the whole, which works positions out by itself."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageOps
from tiny_folders import save_seeing_folder
from tiny_models import (
    DTYPES,
    HALVES,
    IMAGE,
    IMAGE_END,
    IMAGE_START,
    PATCH,
    TOLERANCE,
    VISION,
    drawn_picture,
    rounded_model,
    tiny_model,
    tiny_network,
)

from forethought.data.errors import ContextTooLong, OutOfMemory, PictureMismatch
from forethought.scorer import context as context_module
from forethought.scorer.context import Context
from forethought.scorer.generate import (
    Decoding,
    decode,
    generate_with_transformers,
    transformers_cache,
)
from forethought.scorer.layout import Layout
from forethought.scorer.model import load_model, wrap
from forethought.scorer.plain import score_plainly
from forethought.scorer.score import score_sharing_context
from forethought.scorer.vision import Picture

every_model = pytest.mark.parametrize(
    ("family", "dtype"), [(family, dtype) for family in VISION for dtype in DTYPES]
)
every_family = pytest.mark.parametrize("family", VISION)
SEQUENCES = [[4, 5, 6, 7], [4, 5, 9], [8], [8, 8, 8, 8, 8, 8]]
SMALL, WIDE, TALL = drawn_picture(4, 4, 1), drawn_picture(2, 8, 2), drawn_picture(10, 4, 3)


def ids_of(*parts) -> list[int]:
    """Token ids of a mix of numbers and pictures."""
    ids = []
    for part in parts:
        if isinstance(part, Picture):
            inside = [IMAGE] * (len(part.patches) // 4)
            ids += [IMAGE_START, *inside, IMAGE_END]
        else:
            ids.append(part)
    return ids


def pictures_of(*parts) -> list[Picture]:
    return [part for part in parts if isinstance(part, Picture)]


def assert_scores(context, ids, pictures, tolerance):
    shared = score_sharing_context(context, SEQUENCES).log_probs
    plain = score_plainly(context.model, ids, SEQUENCES, pictures=pictures)
    assert max(np.abs(a - b).max() for a, b in zip(shared, plain, strict=True)) < tolerance


turns = st.lists(
    st.lists(
        st.one_of(st.integers(0, 9), st.sampled_from([SMALL, WIDE, TALL])), min_size=1, max_size=5
    ),
    min_size=1,
    max_size=3,
)


@every_model
@given(turns=turns)
@settings(max_examples=12, deadline=None)
def test_pictures_in_any_turn_change_scores_as_the_model_says(family, dtype, turns):
    """After each turn's observation a winner is committed; equality holds over all turns."""
    model = tiny_model(family, dtype)
    context, ids, pictures = Context(model, capacity=1), [], []

    for number, parts in enumerate(turns):
        context.extend(ids_of(*parts), pictures_of(*parts))
        ids, pictures = ids + ids_of(*parts), pictures + pictures_of(*parts)
        assert_scores(context, ids, pictures, TOLERANCE[dtype])
        scored = score_sharing_context(context, SEQUENCES)
        context.commit(scored.continuation(number % len(SEQUENCES)))
        ids = ids + SEQUENCES[number % len(SEQUENCES)]

    assert_scores(context, ids, pictures, TOLERANCE[dtype])
    assert context.ids == tuple(ids)
    context.check()


@every_family
@given(turns=turns)
@settings(max_examples=12, deadline=None)
def test_positions_are_the_ones_that_the_model_works_out_over_the_whole(family, turns):
    model = tiny_model(family)
    layout, ids, pictures = Layout(model.eyes), [], []
    for parts in turns:
        layout.add(ids_of(*parts), pictures_of(*parts))
        ids, pictures = ids + ids_of(*parts), pictures + pictures_of(*parts)

    tokens = torch.tensor([ids])
    grids = torch.tensor([p.grid for p in pictures]) if pictures else None
    expected, delta = model.network.model.get_rope_index(
        tokens, image_grid_thw=grids, mm_token_type_ids=(tokens == IMAGE).int()
    )

    assert np.array_equal(layout.positions(0, len(ids)), expected[:, 0].numpy())
    assert layout.next_position == len(ids) + int(delta)
    middle = len(ids) // 2
    halves = [layout.positions(0, middle), layout.positions(middle, len(ids))]
    assert np.array_equal(np.concatenate(halves, axis=1), expected[:, 0].numpy())


@every_family
def test_text_alone_between_two_picture_contexts_does_not_see_their_positions(family):
    """huggingface/transformers#36013, #43952: the model remembers the last picture's position delta."""
    model = tiny_model(family, "float64")
    first, second = ids_of(1, TALL, 2), ids_of(3, 4, WIDE, 5)
    with_first = Context(model, capacity=4)
    with_first.extend(first, [TALL])
    text = Context(model, [7, 8, 9])
    assert_scores(text, [7, 8, 9], [], 1e-11)
    with_second = Context(model)
    with_second.extend(second, [WIDE])

    assert_scores(with_second, second, [WIDE], 1e-11)
    assert_scores(text, [7, 8, 9], [], 1e-11)
    assert_scores(with_first, first, [TALL], 1e-11)


@every_family
@pytest.mark.parametrize("chunk", [1, 4, 5, 6, 7, 100])
def test_a_picture_across_the_edge_of_a_prefill_step_is_the_same(family, chunk, monkeypatch):
    """Blaizzy/mlx-vlm#1755."""
    monkeypatch.setattr(context_module, "CHUNK", chunk)
    model, ids = tiny_model(family, "float64"), ids_of(1, 2, SMALL, 3, WIDE, 4)
    context = Context(model)

    context.extend(ids, [SMALL, WIDE])

    assert_scores(context, ids, [SMALL, WIDE], 1e-11)


@every_family
def test_a_picture_is_looked_at_once_over_all_turns(family):
    model, looks = tiny_model(family, "float64"), []
    handle = model.network.model.visual.register_forward_hook(lambda *_: looks.append(1))
    try:
        context = Context(model)
        context.extend(ids_of(1, SMALL), [SMALL])
        context.extend(ids_of(2, WIDE, 3), [WIDE])
        context.commit(score_sharing_context(context, SEQUENCES).continuation(0))
        context.extend([5])
    finally:
        handle.remove()

    assert len(looks) == 2


@every_family
def test_after_a_rollback_behind_between_and_before_pictures_it_is_as_fresh(family):
    model = tiny_model(family, "float64")
    ids = ids_of(1, SMALL, 2, WIDE, 3, 4)
    context = Context(model)
    context.extend(ids, [SMALL, WIDE])

    for kept, pictures in ((len(ids) - 1, [SMALL, WIDE]), (8, [SMALL]), (1, [])):
        context.rollback(kept)
        assert_scores(context, ids[:kept], pictures, 1e-11)
    context.extend(ids[1:], [SMALL, WIDE])
    assert_scores(context, ids, [SMALL, WIDE], 1e-11)


@every_family
def test_a_rollback_into_a_picture_is_refused_and_changes_nothing(family):
    model, ids = tiny_model(family, "float64"), ids_of(1, SMALL, 2)
    context = Context(model)
    context.extend(ids, [SMALL])

    with pytest.raises(ValueError, match="a picture stands on tokens 2 to 5"):
        context.rollback(4)

    assert_scores(context, ids, [SMALL], 1e-11)


@pytest.mark.parametrize(
    ("ids", "pictures", "complaint"),
    [
        (ids_of(1, SMALL), [], "places for 1 pictures, and 0 came"),
        ([1, 2], [SMALL], "places for 0 pictures, and 1 came"),
        (ids_of(SMALL, WIDE), [SMALL], "places for 2 pictures, and 1 came"),
        (ids_of(SMALL), [TALL], "takes 10 tokens; its place has 4"),
        (ids_of(SMALL), [SMALL._replace(grid=(1, 2, 4))], "has patches of shape"),
    ],
)
def test_pictures_that_do_not_fit_are_refused_and_nothing_is_added(ids, pictures, complaint):
    context = Context(tiny_model("qwen3_vl", "float64"), [1, 2, 3])

    with pytest.raises(PictureMismatch, match=complaint):
        context.extend(ids, pictures)

    assert context.ids == (1, 2, 3)
    assert_scores(context, [1, 2, 3], [], 1e-11)


def test_a_model_that_reads_text_alone_refuses_pictures():
    with pytest.raises(PictureMismatch, match="text alone"):
        Context(tiny_model("llama")).extend([1], [SMALL])


@every_family
def test_deepstack_and_embeddings_of_a_picture_matter(family):
    """Else the equalities above would hold for blind models too."""
    model = tiny_model(family, "float64")
    other = drawn_picture(4, 4, seed=9)
    ids = ids_of(1, SMALL, 2)

    one, two = (score_plainly(model, ids, SEQUENCES, pictures=[p])[0] for p in (SMALL, other))

    assert np.abs(one - two).max() > 1e-3


@every_family
def test_both_decoders_go_on_alike_behind_pictures_whatever_was_seen_before(family):
    """QwenLM/Qwen3-VL#1685: transformers keeps the position delta of whichever picture it saw last."""
    model = tiny_model(family, "float64")
    context = Context(model)
    context.extend(ids_of(1, TALL, 2), [TALL])
    context.extend(ids_of(3, WIDE, 4), [WIDE])
    score_plainly(model, ids_of(SMALL), SEQUENCES, pictures=[SMALL])

    theirs = generate_with_transformers(context, transformers_cache(context), 12)

    assert decode(context, Decoding(tokens=12, stop=None)).ids == theirs


def test_a_picture_token_that_a_model_made_itself_stands_for_no_picture():
    model = tiny_model("qwen3_vl", "float64")
    context = Context(model)
    context.extend(ids_of(1, SMALL), [SMALL])
    context.append_text([IMAGE, IMAGE])

    assert context.next_position == Context(model, [0] * 7).next_position
    assert torch.isfinite(context.logits()).all()


@pytest.mark.parametrize("dtype", HALVES)
def test_in_half_precision_pictures_over_three_turns_err_no_more_than_the_plain_scorer(dtype):
    """Against a float32 oracle on the same weights; pooled, since either may be lucky once."""
    ours, naive = [], []
    for family in VISION:
        for seed in range(3):
            model, oracle = (make(family, dtype, seed) for make in (tiny_model, rounded_model))
            context, ids, pictures = Context(model), [], []
            for turn, picture in enumerate([SMALL, TALL, WIDE]):
                parts = (seed, turn, picture, 9)
                context.extend(ids_of(*parts), [picture])
                ids, pictures = ids + ids_of(*parts), [*pictures, picture]
                exact = np.concatenate(score_plainly(oracle, ids, SEQUENCES, pictures=pictures))
                plain = score_plainly(model, ids, SEQUENCES, pictures=pictures)
                scored = score_sharing_context(context, SEQUENCES)
                ours.append(np.concatenate(scored.log_probs) - exact)
                naive.append(np.concatenate(plain) - exact)
                context.commit(scored.continuation(turn))
                ids = ids + SEQUENCES[turn]

    mine, theirs = np.abs(np.concatenate(ours)), np.abs(np.concatenate(naive))
    assert mine.mean() <= 1.15 * theirs.mean()
    assert mine.max() <= 1.5 * theirs.max()


def test_a_vision_model_in_a_folder_loads_with_its_own_image_processor(tmp_path):
    save_seeing_folder(tmp_path)
    model = load_model(str(tmp_path), dtype="float64")
    drawing = Image.new("RGB", (40, 24), (200, 10, 10))
    ImageDraw.Draw(drawing).ellipse((4, 4, 20, 20), fill=(0, 90, 200))

    picture = model.eyes.prepare(drawing)

    assert picture.grid == (1, 6, 10)
    ids = [1, *model.eyes.tokens(picture), 2]
    context = Context(model)
    context.extend(ids, [picture])
    assert_scores(context, ids, [picture], 1e-11)


@every_family
@pytest.mark.parametrize("other", [SMALL, WIDE, drawn_picture(4, 4, 8)])
def test_a_picture_put_where_another_failed_to_be_read_is_read_itself(family, other):
    """Out of memory, a smaller picture, again: what was seen of the first must not stand for the second."""
    model = tiny_model(family, "float64")
    context = Context(model, [1, 2, 3])
    layer, fails = model.network.model.language_model.layers[1], [1]

    def fail(*_):
        if fails.pop():
            raise torch.OutOfMemoryError

    handle = layer.register_forward_pre_hook(fail)
    with pytest.raises(OutOfMemory):
        context.extend(ids_of(SMALL), [SMALL])
    handle.remove()
    context.extend(ids_of(other), [other])

    assert_scores(context, [1, 2, 3, *ids_of(other)], [other], 1e-11)


@pytest.mark.parametrize(
    "picture",
    [
        Picture(torch.zeros(9, PATCH), (1, 3, 3)),
        Picture(torch.zeros(12, PATCH), (1, 3, 4)),
        Picture(torch.zeros(32, PATCH), (2, 4, 4)),
        Picture(torch.zeros(16, PATCH - 1), (1, 4, 4)),
        Picture(torch.zeros(16), (1, 4, 4)),
        Picture(torch.full((16, PATCH), float("nan")), (1, 4, 4)),
        Picture(torch.zeros(0, PATCH), (1, 0, 4)),
    ],
)
def test_a_picture_that_no_tower_could_read_is_refused(picture):
    context = Context(tiny_model("qwen3_vl", "float64"), [1, 2, 3])

    with pytest.raises(PictureMismatch):
        context.extend(ids_of(SMALL), [picture])

    assert_scores(context, [1, 2, 3], [], 1e-11)


def test_room_is_counted_in_positions_of_which_a_picture_needs_few():
    network = tiny_network("qwen3_vl", max_position_embeddings=12).double()
    context = Context(wrap(network, None, "short", "0"))

    context.extend(ids_of(1, drawn_picture(10, 10)), [drawn_picture(10, 10)])
    assert context.length > 12 > context.next_position
    before = context.ids
    with pytest.raises(ContextTooLong):
        context.extend(ids_of(TALL, WIDE), [TALL, WIDE])
    assert context.ids == before


def test_pictures_are_refused_by_the_plain_scorer_too():
    with pytest.raises(PictureMismatch, match="text alone"):
        score_plainly(tiny_model("llama"), [1], SEQUENCES, pictures=[SMALL])
    with pytest.raises(PictureMismatch, match="and 0 came"):
        score_plainly(tiny_model("qwen3_vl"), ids_of(SMALL), SEQUENCES)


@pytest.fixture(scope="module")
def eyes(tmp_path_factory):
    return load_model(str(save_seeing_folder(tmp_path_factory.mktemp("eyes")))).eyes


def shown(eyes, image) -> np.ndarray:
    picture = eyes.prepare(image)
    assert torch.isfinite(picture.patches).all()
    return picture.patches.double().numpy()


def plain(colour, size=(64, 48)) -> Image.Image:
    return Image.new("RGB", size, colour)


@pytest.mark.parametrize(
    "not_an_image", ["page.png", None, b"", np.zeros((30, 30, 3), "uint8"), torch.zeros(3, 30, 30)]
)
def test_what_is_no_image_is_refused_and_said_how_to_make_one(eyes, not_an_image):
    with pytest.raises(PictureMismatch, match="PIL image, not .*PIL.Image"):
        eyes.prepare(not_an_image)


@pytest.mark.parametrize("size", [(0, 5), (5, 0)])
def test_an_image_without_pixels_is_refused(eyes, size):
    with pytest.raises(PictureMismatch, match="shows nothing"):
        eyes.prepare(Image.new("RGB", size))


def test_a_file_that_was_cut_off_closed_or_is_a_sliver_is_refused(eyes, tmp_path):
    path = tmp_path / "page.png"
    noise = np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)
    Image.fromarray(noise).save(path)
    path.write_bytes(path.read_bytes()[:2000])
    closed = Image.open(path)
    closed.close()

    for image in (Image.open(path), closed, plain("red", (4000, 8))):
        with pytest.raises(PictureMismatch, match="cannot be read") as told:
            eyes.prepare(image)
        assert "\n" not in str(told.value)


def test_what_is_transparent_is_white_whatever_colour_lies_beneath(eyes):
    white, red = shown(eyes, plain("white")), shown(eyes, plain("red"))
    for mode in ("RGBA", "LA"):
        clear = plain("black").convert(mode)
        clear.putalpha(0)
        assert np.array_equal(shown(eyes, clear), white)
    opaque = plain("red").convert("RGBA")
    assert np.array_equal(shown(eyes, opaque), red)
    palette = plain("red").convert("P")
    palette.info["transparency"] = palette.getpixel((0, 0))
    assert np.array_equal(shown(eyes, palette), white)


@pytest.mark.parametrize(("shade", "grey"), [(0, 0), (65535, 255), (128 * 257, 128)])
@pytest.mark.parametrize("mode", ["I;16", "I;16B", "I"])
def test_sixteen_bits_of_grey_keep_their_shade(eyes, shade, grey, mode):
    image = Image.new(mode, (64, 48), shade)

    assert np.array_equal(shown(eyes, image), shown(eyes, plain((grey, grey, grey))))


@pytest.mark.parametrize("mode", ["RGB", "L", "1", "P", "CMYK", "YCbCr", "HSV", "LAB", "F"])
def test_every_mode_of_an_image_is_taken(eyes, mode):
    image = Image.new(mode, (64, 48))

    assert eyes.prepare(image).grid == eyes.prepare(plain("red")).grid


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_photograph_is_turned_upright(eyes, tmp_path, orientation):
    image = plain("white", (80, 48))
    image.paste((0, 0, 200), (0, 0, 40, 24))
    exif = image.getexif()
    exif[0x0112] = orientation
    image.save(tmp_path / "photo.png", exif=exif)

    upright = ImageOps.exif_transpose(image)
    read = Image.open(tmp_path / "photo.png")
    assert np.array_equal(shown(eyes, read), shown(eyes, upright.convert("RGB")))
    assert (eyes.prepare(read).grid[1] > eyes.prepare(read).grid[2]) == (orientation > 4)


def test_without_an_image_processor_text_is_scored_and_pictures_are_refused(tmp_path):
    save_seeing_folder(tmp_path)
    (tmp_path / "preprocessor_config.json").unlink()
    model = load_model(str(tmp_path))

    assert score_plainly(model, [1, 2], SEQUENCES)
    with pytest.raises(PictureMismatch, match="preprocessor_config.json"):
        model.eyes.prepare(plain("red"))
