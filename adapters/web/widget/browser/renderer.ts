/**
 * Draws the widget. It has the part of Preact's interface that the widget uses, in a fourth of its
 * size, and the build puts it in Preact's place. A component with state must draw one element.
 */
type Props = Readonly<Record<string, unknown>>;

/** Null, undefined and booleans draw nothing. */
type Child = VNode | string | number | boolean | null | undefined | readonly Child[];

type Drawing = (props: Props) => Child;
type Stateful = new (props: Props) => Component<Props, object>;

interface VNode {
  readonly type: string | Drawing | Stateful;
  readonly props: Props;
  readonly key: unknown;
}

/** What was drawn for a virtual node. */
interface Drawn {
  readonly type: VNode["type"];
  readonly key: unknown;
  /** Absent for a component, which is drawn as its children. */
  readonly node: Element | Text | undefined;
  readonly component: Component<Props, object> | undefined;
  props: Props;
  children: readonly Drawn[];
}

const textType = "#text";

/** What runs once the whole tree is drawn: `componentDidMount` and `componentDidUpdate`. */
let afterDrawing: (() => void)[] = [];

const nothing = (): void => {};

export class Component<P, S> {
  state!: S;
  props: P;
  /** Draws the component again. Set while it is in the document. */
  redraw: () => void = nothing;

  constructor(props: P) {
    this.props = props;
  }

  setState(change: Partial<S>): void {
    this.state = { ...this.state, ...change };
    this.redraw();
  }

  componentDidMount(): void {}
  componentWillUnmount(): void {}
  getSnapshotBeforeUpdate(): void {}
  componentDidUpdate(_before: P): void {}

  render(): Child {
    return null;
  }
}

export const createRef = (): { current: unknown } => ({ current: null });

export const Fragment: Drawing = ({ children }) => children as Child;

export const jsx = (type: VNode["type"], props: Props, key?: unknown): VNode => ({
  type,
  props,
  key,
});
export { jsx as jsxs };

const roots = new WeakMap<Node, readonly Drawn[]>();

/** Draws into an empty element, or changes what was drawn there. */
export function render(vnode: Child, root: Node): void {
  roots.set(root, drawAll(root, roots.get(root) ?? [], vnode, null));
  runAfterDrawing();
}

function runAfterDrawing(): void {
  const due = afterDrawing;
  afterDrawing = [];
  for (const run of due) run();
}

function nodesOf(child: Child): readonly VNode[] {
  if (isList(child)) return child.flatMap(nodesOf);
  if (child === null || child === undefined || typeof child === "boolean") return [];
  if (typeof child === "object") return [child];
  return [{ type: textType, props: { text: String(child) }, key: undefined }];
}

const isList = (child: Child): child is readonly Child[] => Array.isArray(child);

/** Draws `child` in place of what was drawn `before`, in front of `next`. */
function drawAll(
  parent: Node,
  before: readonly Drawn[],
  child: Child,
  next: Node | null,
): readonly Drawn[] {
  const rest = [...before];
  const pairs = nodesOf(child).map((vnode) => {
    const at = rest.findIndex(({ type, key }) => type === vnode.type && key === vnode.key);
    return { vnode, old: at === -1 ? undefined : rest.splice(at, 1)[0] };
  });
  // The old nodes go first. What is in order then does not move, and so keeps the focus and its
  // scroll position.
  for (const each of rest) remove(each, true);
  let following = next;
  return pairs
    .toReversed()
    .map(({ vnode, old }) => {
      const drawn = draw(parent, vnode, old, following);
      following = firstNode(drawn) ?? following;
      return drawn;
    })
    .toReversed();
}

/** Draws `vnode` in front of `next`: anew, or as a change of what was drawn before. */
function draw(parent: Node, vnode: VNode, old: Drawn | undefined, next: Node | null): Drawn {
  const drawn = old ?? create(parent, vnode);
  const { node, component } = drawn;
  const before = drawn.props;
  drawn.props = vnode.props;
  if (component !== undefined) {
    component.props = vnode.props;
    drawComponent(parent, drawn, component, next, old === undefined ? undefined : before);
  } else if (node === undefined) {
    const drawing = vnode.type as Drawing;
    drawn.children = drawAll(parent, drawn.children, drawing(vnode.props), next);
  } else {
    if (node instanceof Element) {
      setAttributes(node, old === undefined ? {} : before, vnode.props);
      drawn.children = drawAll(node, drawn.children, vnode.props["children"] as Child, null);
    } else if (node.data !== vnode.props["text"]) node.data = vnode.props["text"] as string;
    if (node.parentNode !== parent || node.nextSibling !== next) parent.insertBefore(node, next);
  }
  return drawn;
}

/** Draws a component with state. `before` are its earlier properties, if it was drawn before. */
function drawComponent(
  parent: Node,
  drawn: Drawn,
  component: Component<Props, object>,
  next: Node | null,
  before: Props | undefined,
): void {
  if (before !== undefined) component.getSnapshotBeforeUpdate();
  drawn.children = drawAll(parent, drawn.children, component.render(), next);
  afterDrawing.push(() => {
    if (before === undefined) component.componentDidMount();
    else component.componentDidUpdate(before);
  });
  component.redraw = () => {
    const own = firstNode(drawn);
    drawComponent(parent, drawn, component, own?.nextSibling ?? null, drawn.props);
    runAfterDrawing();
  };
}

function create(parent: Node, { type, props, key }: VNode): Drawn {
  const node =
    typeof type !== "string"
      ? undefined
      : type === textType
        ? new Text()
        : type === "svg" || parent instanceof SVGElement
          ? document.createElementNS("http://www.w3.org/2000/svg", type)
          : document.createElement(type);
  const component = isStateful(type) ? new type(props) : undefined;
  return { type, key, node, component, props, children: [] };
}

const isStateful = (type: VNode["type"]): type is Stateful =>
  typeof type === "function" && type.prototype instanceof Component;

function firstNode({ node, children }: Drawn): Node | undefined {
  if (node !== undefined) return node;
  for (const child of children) {
    const found = firstNode(child);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Removes what was drawn. `isTop`: no element around it is removed too. */
function remove({ node, component, children }: Drawn, isTop: boolean): void {
  if (component !== undefined) {
    component.redraw = nothing;
    component.componentWillUnmount();
  }
  for (const child of children) remove(child, isTop && node === undefined);
  if (isTop) node?.remove();
}

function setAttributes(node: Element, before: Props, props: Props): void {
  for (const name of Object.keys({ ...before, ...props })) {
    const value = props[name];
    if (name === "value") {
      // What a person typed since is in the property, not in the attribute.
      if (Reflect.get(node, name) !== value) Reflect.set(node, name, value);
    } else if (name === "children" || value === before[name]) continue;
    else if (name === "ref") (value as { current: unknown }).current = node;
    else if (name.startsWith("on")) Reflect.set(node, name.toLowerCase(), value);
    else if (typeof value === "boolean" && !name.startsWith("aria")) {
      node.toggleAttribute(name, value);
    } else if (value === undefined) node.removeAttribute(name);
    else node.setAttribute(name, `${value as string | number | boolean}`);
  }
}
