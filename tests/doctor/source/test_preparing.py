"""What the text says about how data are prepared: moved, reordered, fitted, cut."""

from __future__ import annotations

from pathlib import Path

import pytest

from whygrad.doctor.source.preparing.augmenting import has_sides, moved_alone
from whygrad.doctor.source.preparing.casting import cut_to_whole
from whygrad.doctor.source.preparing.fitting import fitted_on_held_out
from whygrad.doctor.source.preparing.reshaping import reshaped_to
from whygrad.doctor.source.preparing.rows import rows_apart
from whygrad.doctor.source.preparing.shapes import renamed_axes
from whygrad.doctor.source.preparing.windows import targets_inside


def _file(folder: Path, text: str) -> str:
    path = folder / f"program{len(list(folder.iterdir()))}.py"
    path.write_text(text, encoding="utf-8")
    return str(path)


_ITEM = """
class Pictures:
    def __getitem__(self, i):
        image, mask = self.items[i]
        if random.random() < 0.5:
            {}
        return image, mask
"""
_TRANSFORMED = """
class Flip:
    def __call__(self, image):
        if torch.rand(1) < 0.5:
            image = image.flip(-1)
        return image

class Pictures:
    def __getitem__(self, i):
        image = self.images[i]
        image = self.transform(image)
        return image, self.masks[i]
"""
_DRAWN = """
def augment(images, masks):
    k = int(torch.randint(0, 4, (1,)))
    images = torch.rot90(images, k, dims=(2, 3))
    {}
    return images, masks
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (_ITEM.format("image = np.fliplr(image)"), 6),
        (_ITEM.format("image = image[:, ::-1].copy()"), 6),
        (_TRANSFORMED, 5),
        (_DRAWN.format("masks = masks.float()"), 4),
    ],
)
def test_one_of_two_is_moved(tmp_path: Path, text: str, line: int) -> None:
    (found,) = moved_alone(_file(tmp_path, text))
    assert found.where.line == line
    assert "masks" in found.others[0] or "mask" in found.others


@pytest.mark.parametrize(
    "text",
    [
        _ITEM.format("image, mask = image.flip(-1), mask.flip(-1)"),
        _ITEM.format("image = image.flip(-1); mask = mask.flip(-1)"),
        _ITEM.format("image = image + noise"),
        _DRAWN.format("masks = torch.rot90(masks, k, dims=(1, 2))"),
        _ITEM.replace("random.random() < 0.5", "self.mirrored").format("image = image.flip(-1)"),
    ],
)
def test_both_are_moved_or_none(tmp_path: Path, text: str) -> None:
    assert not list(moved_alone(_file(tmp_path, text)))


def test_classes_named_by_directions(tmp_path: Path) -> None:
    assert has_sides(_file(tmp_path, "names = ['left', 'right', 'up']"))
    assert not has_sides(_file(tmp_path, "names = ['cat', 'dog']"))


_PAIRED = "x, y = load()\n{}\ndata = TensorDataset(torch.tensor(x), torch.tensor(y))"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x = x[rng.permutation(len(x))]\ny = y[rng.permutation(len(y))]", 3),
        ("order = np.argsort(y)\ny = y[order]", 3),
        ("keep = ~np.isnan(x).any(axis=1)\nx = x[keep]\ny = y[:len(x)]", 3),
        ("x = x.sample(frac=1, random_state=1)\ny = y.sample(frac=1, random_state=2)", 3),
        ("y, order = torch.sort(y)", 2),
        ("rng.shuffle(x)", 2),
    ],
)
def test_rows_are_changed_apart(tmp_path: Path, text: str, line: int) -> None:
    (found,) = rows_apart(_file(tmp_path, _PAIRED.format(text)))
    assert found.where.line == line


@pytest.mark.parametrize(
    "text",
    [
        "order = rng.permutation(len(x))\nx, y = x[order], y[order]",
        "order = rng.permutation(len(x))\nx = x[order]\ny = y[order]",
        "x = x.sample(frac=1, random_state=1)\ny = y.sample(frac=1, random_state=1)",
        "np.random.seed(0)\nnp.random.shuffle(x)\nnp.random.seed(0)\nnp.random.shuffle(y)",
        "x, y = shuffle(x, y)",
        "y, order = torch.sort(y)\nx = x[order]",
        "x = (x - x.mean(0)) / x.std(0)",
        "y = table[x[:, 0]]",
    ],
)
def test_rows_are_changed_alike(tmp_path: Path, text: str) -> None:
    assert not list(rows_apart(_file(tmp_path, _PAIRED.format(text))))


_VOCABULARY = """
def numbered(texts):
    words = {}
    for text in texts:
        words[text] = len(words)
    return words

train_words = numbered(train_texts)
"""
_CODED = """
def coded(frame, table=None):
    names = list(dict.fromkeys(frame["city"]))
    codes = table or {name: i for i, name in enumerate(names)}
    return frame["city"].map(codes)

a = coded(train_df)
"""
_COLUMNS = """
def standard(d):
    out = d.copy()
    for c in columns:
        out[c] = (d[c] - d[c].mean()) / d[c].std()
    return out

a = standard(train_df)
"""
_SCALED = "scaler = StandardScaler()\nx_train = scaler.fit_transform(x_train)\n"
_STANDARD = (
    "def standard(a):\n    return (a - a.mean(0)) / a.std(0)\n\nx_train = standard(x_train)\n"
)


@pytest.mark.parametrize(
    "text",
    [
        _SCALED + "x_test = scaler.fit_transform(x_test)",
        _SCALED + "x_test = StandardScaler().fit_transform(x_test)",
        _STANDARD + "x_val = standard(x_val)",
        _VOCABULARY + "test_words = numbered(test_texts)",
        "a = pd.get_dummies(train_df)\nb = pd.get_dummies(test_df)",
        _CODED + "b = coded(test_df)",
        _COLUMNS + "b = standard(test_df)",
        "a = {k: i for i, k in enumerate(train_names)}\n"
        "b = {k: i for i, k in enumerate(sorted(set(test_names)))}",
    ],
)
def test_numbers_are_taken_from_held_out_data(tmp_path: Path, text: str) -> None:
    (found,) = fitted_on_held_out(_file(tmp_path, text))
    assert found.where.line == len(text.splitlines())


@pytest.mark.parametrize(
    "text",
    [
        _SCALED + "x_test = scaler.transform(x_test)",
        _SCALED + "y_train = StandardScaler().fit_transform(y_train)",
        _STANDARD.replace("(0)", "(1, keepdims=True)") + "x_val = standard(x_val)",
        _VOCABULARY + "test_ids = [train_words[each] for each in test_texts]",
        "model.fit(x_train, y_train)\nmodel.fit(x_test, y_test)",
        _CODED + "b = coded(test_df, table)",
        _COLUMNS.replace("d[c].mean()", "MEAN[c]") + "b = standard(test_df)",
        "a = {k: i for i, k in enumerate(sorted(train_names))}\n"
        "b = {k: i for i, k in enumerate(sorted(test_names))}",
    ],
)
def test_numbers_of_training_are_kept(tmp_path: Path, text: str) -> None:
    assert not list(fitted_on_held_out(_file(tmp_path, text)))


_SENSORS = "N, T = 90, 30\nparts = [c + rng.normal(0, 1, (N, T)) for c in (a, b, c)]\n"


@pytest.mark.parametrize(
    "text",
    [
        _SENSORS + "x = np.stack(parts)\nx = x.reshape(N, T, 3)",
        _SENSORS + "x = np.stack(parts, axis=-1).reshape(N, 3, T)",
        "x = np.zeros((n, h, w, c))\nx = np.reshape(x, (-1, c, h, w))",
        "x = 2 * np.sin(rng.uniform(size=(50, 8, 3)))\nx = x.reshape(50, 3, 8)",
    ],
)
def test_axes_that_only_get_other_names(tmp_path: Path, text: str) -> None:
    (found,) = renamed_axes(_file(tmp_path, text))
    assert found.where.line == len(text.splitlines())
    assert sorted(map(str, found.before)) == sorted(map(str, found.after))


@pytest.mark.parametrize(
    "text",
    [
        _SENSORS + "x = np.stack(parts).transpose(1, 2, 0)",
        _SENSORS + "x = np.stack(parts).reshape(3, N, T)",
        _SENSORS + "x = np.stack(parts, axis=-1).reshape(N, T * 3)",
        "x = np.zeros((n, 8, 1))\nx = x.reshape(n, 1, 8)",
        "x = read()\nx = x.reshape(n, c, t)",
    ],
)
def test_axes_that_stay_what_they_are(tmp_path: Path, text: str) -> None:
    assert not list(renamed_axes(_file(tmp_path, text)))


def test_a_target_in_its_window(tmp_path: Path) -> None:
    text = "for i in range(n):\n    x = s[i:i + w]\n    y = s[i + w{}]\n"
    (found,) = targets_inside(_file(tmp_path, text.format(" - 1")))
    assert (found.behind, found.where.line) == (1, 3)
    assert not list(targets_inside(_file(tmp_path, text.format(""))))
    assert not list(targets_inside(_file(tmp_path, text.format(" + 1"))))


def test_fractions_that_are_cut_off(tmp_path: Path) -> None:
    lines = ("x = (x / 255.0).astype(np.uint8)", "x = x // 255", "half = size // 2", "x = x / 255")
    found = cut_to_whole(_file(tmp_path, "\n".join(lines)))
    assert [where.line for _, where in found] == [1, 2]


def test_data_that_are_reshaped(tmp_path: Path) -> None:
    text = "x = x.reshape(len(x), 3, S, S)\nz = x.reshape(-1, 4)\n"
    found = reshaped_to(_file(tmp_path, text), (3, 8, 8))
    assert [each.line for each in found] == [1]
