import { parseSync } from "vite";

/** A node of the syntax tree (ESTree), read without assuming its shape. */
export interface SyntaxNode {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Parses a file. The extension of its path selects the language. */
export function parse(source: string, path = "module.ts"): SyntaxNode {
  const { program, errors } = parseSync(path, source);
  if (errors[0] !== undefined) throw new SyntaxError(errors[0].codeframe ?? errors[0].message);
  return program as unknown as SyntaxNode;
}

export const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === "object" && value !== null && typeof Reflect.get(value, "type") === "string";

interface Visited {
  readonly node: SyntaxNode;
  readonly parent: SyntaxNode | undefined;
  readonly field: string | undefined;
}

/** The node and all nodes below it, each with its parent and the parent's field that holds it. */
export function* walk(root: SyntaxNode): Generator<Visited> {
  // Recursive generators would pass each node on through all levels above it.
  const left: Visited[] = [{ node: root, parent: undefined, field: undefined }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    yield next;
    const { node } = next;
    const below: Visited[] = [];
    for (const field in node) {
      const value = node[field];
      for (const child of Array.isArray(value) ? value : [value]) {
        if (isNode(child)) below.push({ node: child, parent: node, field });
      }
    }
    left.push(...below.toReversed());
  }
}

/** The name of an identifier; undefined for other nodes. */
export const nameOf = (node: unknown): string | undefined => text(node, "Identifier", "name");

function text(node: unknown, type: string, field: string): string | undefined {
  const value = isNode(node) && node.type === type ? node[field] : undefined;
  return typeof value === "string" ? value : undefined;
}

export interface Import {
  readonly from: string;
  /** The imported names; `*` for all, `default` for the default export. */
  readonly names: readonly string[];
  /** True if only types are imported, so that nothing remains of it in the build. */
  readonly isType: boolean;
}

const importing = new Set([
  "ImportDeclaration",
  "ExportNamedDeclaration",
  "ExportAllDeclaration",
  "ImportExpression",
  "TSImportType",
]);

/** The imports and re-exports of a module, with types. A computed dynamic import is from `?`. */
export function importsOf(program: SyntaxNode): Import[] {
  const imports: Import[] = [];
  for (const { node } of walk(program)) {
    if (!importing.has(node.type)) continue;
    if (node.type === "ExportNamedDeclaration" && !isNode(node["source"])) continue;
    const specifiers = Array.isArray(node["specifiers"])
      ? node["specifiers"].filter(isNode)
      : undefined;
    imports.push({
      from: text(node["source"], "Literal", "value") ?? "?",
      names: specifiers?.map(importedName) ?? ["*"],
      isType: [node["importKind"], node["exportKind"]].includes("type"),
    });
  }
  return imports;
}

function importedName(specifier: SyntaxNode): string {
  if (specifier.type === "ImportDefaultSpecifier") return "default";
  return (
    nameOf(specifier["imported"]) ??
    nameOf(specifier.type === "ExportSpecifier" ? specifier["local"] : undefined) ??
    "*"
  );
}
