"use strict";
// Judges as whygrad/learn/quiz/reading.py and answers.py do; one table of cases tests both.

const judge = (() => {
  const NUMBER = String.raw`[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?`;
  const QUOTIENT = new RegExp(String.raw`^(${NUMBER})\s*(?:/\s*(${NUMBER}))?$`);
  const THOUSANDS = /^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?$/;
  const TOKEN = new RegExp(String.raw`([A-Za-z_]\w*)|(${NUMBER})|(\S)`, "gu");

  /** A number, or the key of the phrase that says why it is none. */
  function number(text, language) {
    let typed = text.trim().replaceAll("−", "-");
    if (language === "es") typed = typed.replaceAll(",", ".");
    else if (THOUSANDS.test(typed)) typed = typed.replaceAll(",", "");
    else if (typed.includes(",")) return "no_comma";
    const found = QUOTIENT.exec(typed);
    if (!found) return "a_number";
    const value = Number(found[1]) / Number(found[2] ?? 1);
    return Number.isFinite(value) ? value : "a_finite_number";
  }

  function lineNumber(text, count) {
    const found = /^(?:\p{L}+\.?\s*)?(\d{1,6})\.?$/u.exec(text.trim());
    const line = found ? Number(found[1]) : 0;
    return line >= 1 && line <= count ? line : "a_line";
  }

  const near = (value, answer, tolerance) =>
    Math.abs(value - answer) <= tolerance + 1e-9 * Math.abs(answer);

  function choice(chosen, right) {
    const hits = chosen.filter((id) => right.includes(id)).length;
    return Math.max(0, hits - (chosen.length - hits)) / right.length;
  }

  const tokens = (line) => [...line.replaceAll("−", "-").matchAll(TOKEN)];

  function sameToken(one, other) {
    if (one[0] === other[0]) return true;
    if (one[2] === undefined || other[2] === undefined) return false;
    const [a, b] = [Number(one[2]), Number(other[2])];
    if (!Number.isFinite(a) || !Number.isFinite(b)) return false;
    return Math.abs(a - b) <= 1e-6 * Math.max(Math.abs(a), Math.abs(b));
  }

  function sameLine(expected, given) {
    const [one, other] = [tokens(expected), tokens(given)];
    return one.length === other.length && one.every((token, at) => sameToken(token, other[at]));
  }

  const lines = (text) =>
    text.split(/\r\n|\r|\n/).map((line) => line.trimEnd()).filter((line) => line.trim());

  /** Rows of a printed line, the learner's, and whether they are the same. */
  function output(expected, given, language) {
    const [theirs, mine] = [lines(expected), lines(given)];
    return Array.from({ length: Math.max(theirs.length, mine.length) }, (_, at) =>
      row(theirs[at] ?? null, mine[at] ?? null, language));
  }

  function row(expected, given, language) {
    if (expected === null || given === null) return { expected, given, same: false, comma: false };
    const same = sameLine(expected, given);
    const comma = !same && sameLine(expected, given.replace(/(?<=\d),(?=\d)/g, "."));
    if (comma && language === "es") return { expected, given, same: true, comma: false };
    return { expected, given, same, comma };
  }

  /** The nearest whole percent, a half to the even one; 0 and 100 for nothing and everything. */
  function percent(share) {
    if (share === 0 || share === 1) return share * 100;
    const exact = Number((share * 100).toFixed(9));
    const below = Math.floor(exact);
    const up = exact - below > 0.5 || (exact - below === 0.5 && below % 2 === 1);
    return Math.min(99, Math.max(1, below + Number(up)));
  }

  return { number, lineNumber, near, choice, sameLine, output, percent };
})();

(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const say = (key, details = {}) =>
    data.phrases[key].replace(/\{(\w+)\}/g, (_, name) => details[name]);
  const forms = [...document.querySelectorAll("form.question")];
  const scores = new Map();

  function element(tag, text, className) {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  const percent = (share) => say("percent", { value: judge.percent(share) });

  /** Says how it went, counts the first answer, opens the explanation. */
  function finish(form, score, more) {
    const [key, sign, style] =
      score === 1 ? ["right", "✓", "is-right"]
      : score > 0 ? ["partly", "◐", "is-partly"]
      : ["wrong", "✗", "is-wrong"];
    const verdict = element("span", `${sign} ${say(key, { score: percent(score) })}`, style);
    form.querySelector(".result").replaceChildren(verdict, ...(more ?? []));
    form.querySelector("details").open = true;
    if (!scores.has(form.id)) count(form, score);
  }

  function count(form, score) {
    scores.set(form.id, score);
    showStanding();
  }

  function refuse(form, key, details) {
    form.querySelector(".result").replaceChildren(element("span", say(key, details), "is-partly"));
  }

  const judges = {
    single: choose,
    multiple: choose,
    numeric(form, question) {
      const value = judge.number(form.elements.answer.value, data.language);
      if (typeof value === "string") return refuse(form, value);
      finish(form, Number(judge.near(value, question.answer, question.tolerance)));
    },
    bug(form, question) {
      const line = judge.lineNumber(form.elements.answer.value, question.count);
      if (typeof line === "string") return refuse(form, line, { count: question.count });
      const right = question.answer.includes(line);
      const notes = [...form.querySelectorAll("[data-line]")];
      for (const note of notes) note.hidden = note.dataset.line !== String(line);
      const said = right || notes.some((note) => !note.hidden);
      finish(form, Number(right), said ? [] : [element("p", say("not_that_line", { line }))]);
    },
    order(form, question) {
      const items = [...form.querySelectorAll(".order > li")].map((each) => each.dataset.item);
      const wrong = items.findIndex((id, at) => id !== question.answer[at]);
      const hint = element("p", say("out_of_place", { place: wrong + 1 }));
      finish(form, Number(wrong < 0), wrong < 0 ? [] : [hint]);
    },
    predict(form, question) {
      const given = form.elements.answer.value;
      if (!given.trim()) return refuse(form, "write_first");
      const rows = judge.output(question.answer, given, data.language);
      const score = rows.filter((row) => row.same).length / rows.length;
      const hint = rows.some((row) => row.comma) ? [element("p", say("no_comma"))] : [];
      finish(form, score, [comparison(rows), ...hint]);
    },
    free(form, question) {
      if (!form.elements.answer.value.trim()) return refuse(form, "write_first");
      form.querySelector(".rubric").hidden = false;
      form.querySelector("details").open = true;
      form.querySelector(".result").replaceChildren(element("span", say("compare_yourself")));
      grade(form, question);
    },
  };

  function choose(form, question) {
    const boxes = [...form.querySelectorAll("input[name=answer]")];
    const chosen = boxes.filter((box) => box.checked).map((box) => box.value);
    if (!chosen.length) return refuse(form, "choose_first");
    for (const box of boxes) {
      const note = form.querySelector(`[data-feedback="${box.value}"]`);
      if (!note) continue;
      const right = question.answer.includes(box.value);
      const missed = right && !box.checked && question.kind === "multiple";
      note.hidden = !box.checked && !missed;
      note.classList.toggle("is-right", right && box.checked);
      note.classList.toggle("is-wrong", !right);
      note.classList.toggle("is-partly", missed);
      note.querySelector(".mark").textContent =
        missed ? `○ ${say("belongs")}. ` : right ? "✓ " : "✗ ";
    }
    finish(form, judge.choice(chosen, question.answer));
  }

  /** A free answer scores what its author ticks, at any time. */
  function grade(form, question) {
    const ticked = form.querySelectorAll(".rubric input:checked").length;
    const said = say("mentioned_of", { count: ticked, total: question.count });
    form.querySelector(".mentioned").textContent = said;
    count(form, ticked / question.count);
  }

  function comparison(rows) {
    const table = element("table");
    const head = table.createTHead().insertRow();
    for (const key of ["", "printed_line", "your_line"]) {
      const cell = element("th", key && say(key));
      cell.scope = "col";
      head.append(cell);
    }
    const body = table.createTBody();
    for (const row of rows) {
      const line = body.insertRow();
      line.append(element("td", row.same ? "✓" : "✗", row.same ? "is-right" : "is-wrong"));
      line.append(element("td", row.expected ?? say("nothing_there")));
      line.append(element("td", row.given ?? say("nothing_there")));
    }
    return table;
  }

  function move(button) {
    const item = button.closest("li");
    const list = item.parentElement;
    const other = button.dataset.move === "up"
      ? item.previousElementSibling : item.nextElementSibling;
    if (other) {
      if (button.dataset.move === "up") list.insertBefore(item, other);
      else list.insertBefore(other, item);
    }
    button.focus(); // moving the item in the page takes the focus away
    const place = [...list.children].indexOf(item) + 1;
    const name = item.querySelector(".item").textContent.trim();
    list.closest("form").querySelector(".moved").textContent =
      say("moved", { item: name, place, total: list.children.length });
  }

  function showStanding() {
    const sum = [...scores.values()].reduce((all, score) => all + score, 0);
    const points = String(Math.round(sum * 100) / 100);
    document.getElementById("score").textContent =
      say("score_now", { points, answered: scores.size, total: forms.length });
    const topics = new Map();
    for (const form of forms) {
      if (!scores.has(form.id)) continue;
      const topic = data.questions[form.id].topic;
      topics.set(topic, [...(topics.get(topic) ?? []), scores.get(form.id)]);
    }
    const body = document.querySelector("#summary tbody");
    body.replaceChildren();
    for (const [topic, all] of topics) {
      const row = body.insertRow();
      const name = element("th", topic);
      name.scope = "row";
      const share = all.reduce((one, other) => one + other, 0) / all.length;
      row.append(name, element("td", percent(share)), element("td", String(all.length)));
    }
    const repeats = document.getElementById("repeat");
    repeats.replaceChildren();
    for (const form of forms) {
      if (!scores.has(form.id) || scores.get(form.id) === 1) continue;
      const link = element("a", `${form.id} · ${data.questions[form.id].topic}`);
      link.href = `#${form.id}`;
      repeats.append(element("li"));
      repeats.lastChild.append(link);
    }
    document.getElementById("summary").hidden = !scores.size;
    document.getElementById("to-repeat").hidden = !repeats.children.length;
  }

  for (const form of forms) {
    const question = data.questions[form.id];
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      judges[question.kind](form, question);
    });
    form.addEventListener("click", (event) => {
      const button = event.target.closest("button[data-move]");
      if (button) move(button);
    });
    form.querySelector(".rubric")?.addEventListener("change", () => grade(form, question));
  }
  document.getElementById("again").addEventListener("click", () => location.reload());
  document.getElementById("standing").hidden = false;
  showStanding();
})();
