/** What the widget's own renderer is tested with, in a page. */
import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";

const source = new URL("../../adapters/web/widget/browser/renderer.ts", import.meta.url);

/** Loads the renderer into a page, as `window.view`. */
export function loadView(): string {
  const code = stripTypeScriptTypes(readFileSync(source, "utf8"));
  const module = `data:text/javascript,${encodeURIComponent(code)}`;
  return `import(${JSON.stringify(module)}).then((view) => void (window.view = view))`;
}

/**
 * Draws random trees over each other, in one element, and each tree also in a new one. Both must be
 * the same. Elements with the same key stay the same elements, and components live as long as they
 * are drawn.
 */
export const drawRandomTrees = `(rounds) => {
  const { Component, createRef, Fragment, jsx, render } = window.view;
  let seed = 1;
  const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
  const faults = [];
  let living = 0;
  class Counter extends Component {
    state = { count: 0 };
    ref = createRef();
    componentDidMount() {
      living++;
      if (!this.ref.current?.isConnected) faults.push("mounted outside the document");
    }
    componentWillUnmount() { living--; }
    componentDidUpdate(before) {
      if (before.label === undefined) faults.push("no properties before");
    }
    render() {
      const { label } = this.props;
      return jsx("b", { ref: this.ref, title: label, children: [label, " ", this.state.count] });
    }
  }
  const Twice = ({ children }) => jsx(Fragment, { children: [children, jsx("hr", {}), children] });
  const counters = new Set();
  const leaf = () => {
    switch (random(8)) {
      case 0: return null;
      case 1: return false;
      case 2: return "text " + random(3);
      case 3: return random(3);
      case 4: return jsx("textarea", { rows: 1 + random(2), disabled: random(2) === 0 });
      case 5: return jsx("svg", { viewBox: "0 0 " + random(3), children: jsx("path", { d: "M0" }) });
      case 6: return jsx("p", { class: random(2) ? "a" : undefined, "aria-busy": random(2) === 0 });
      default: return jsx(Counter, { label: "c" + random(2) });
    }
  };
  const tree = (depth) => {
    if (depth === 0) return leaf();
    switch (random(4)) {
      case 0: return jsx(Twice, { children: leaf() });
      case 1: return [leaf(), tree(depth - 1), leaf()];
      case 2: {
        const keys = [1, 2, 3, 4, 5].filter(() => random(2)).sort(() => random(3) - 1);
        return jsx("ol", {
          children: keys.map((key) => jsx("li", { id: "k" + key, children: tree(depth - 1) }, key)),
        });
      }
      default: return jsx("div", { children: [tree(depth - 1), leaf()] });
    }
  };
  const keyed = (root) => new Map([...root.children].map((each) => [each.id, each]));
  const box = document.createElement("main");
  const list = document.createElement("ol");
  document.body.append(box, list);
  let before = new Map();
  for (let i = 0; i < rounds; i++) {
    const drawing = tree(3);
    render(jsx("section", { children: drawing }), box);
    const fresh = document.createElement("main");
    document.body.append(fresh);
    render(jsx("section", { children: drawing }), fresh);
    // The order of attributes does not matter.
    if (!box.isEqualNode(fresh)) faults.push(box.innerHTML + " is not " + fresh.innerHTML);
    if (living !== document.querySelectorAll("b").length) faults.push("components are left over");
    render(null, fresh);
    if (fresh.innerHTML !== "") faults.push("not empty: " + fresh.innerHTML);
    fresh.remove();

    const keys = [1, 2, 3, 4, 5, 6].filter(() => random(3)).sort(() => random(3) - 1);
    render(keys.map((key) => jsx("li", { id: "k" + key, children: leaf() }, key)), list);
    const now = keyed(list);
    if ([...now.keys()].join() !== keys.map((key) => "k" + key).join()) faults.push("wrong order");
    for (const [id, node] of now) {
      if (before.has(id) && before.get(id) !== node) faults.push("another element for " + id);
    }
    before = now;
  }
  // A component draws itself again where it is, and what a person typed is replaced.
  let field;
  class Field extends Component {
    state = { value: "a" };
    render() {
      field = this;
      const { value } = this.state;
      return jsx("textarea", { value, onInput: (event) => this.setState({ value: event.target.value.toUpperCase() }) });
    }
  }
  render([jsx("i", {}), jsx(Field, {}), jsx("u", {})], box);
  const area = box.querySelector("textarea");
  area.focus();
  area.value = "typed";
  area.dispatchEvent(new Event("input"));
  render([jsx(Field, {}), jsx("u", {}), jsx("i", {})], box);
  return { faults, shown: [area.value, document.activeElement === area, box.innerHTML] };
}`;
