import { existsSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { isNode, nameOf, parse, walk, type SyntaxNode } from "./syntax.ts";

/** Matchers whose difference shows what is wrong, if they compare structures. */
const structural = new Set(["toEqual", "toStrictEqual", "toMatchObject"]);
/** The functions of fast-check whose arguments run with generated values. */
const generators = new Set(["property", "asyncProperty", "commands"]);
const scalars = new Set(["Literal", "TemplateLiteral", "UnaryExpression"]);

/** A test file: what it declares, where its imported names come from, and its properties. */
interface File {
  readonly path: string;
  readonly source: string;
  readonly declared: ReadonlyMap<string, readonly SyntaxNode[]>;
  readonly imported: ReadonlyMap<string, string>;
  /** What runs with generated values. */
  readonly properties: readonly SyntaxNode[];
}

type Read = (path: string) => string | undefined;

/**
 * Finds the assertions without a message that properties and model commands reach, also in other
 * files. When one fails after hundreds of random cases, "expected 2 to be 1" does not tell which
 * rule is broken. `toEqual` needs no message if it compares structures: the difference tells it.
 */
export function silentAssertions(paths: readonly string[], read: Read = readTest): string[] {
  const files = new Map<string, File | undefined>();
  const fileAt = (path: string): File | undefined => {
    if (!files.has(path)) files.set(path, open(path, read));
    return files.get(path);
  };
  const seen = new Set<SyntaxNode>();
  const findings = new Set<string>();
  const visit = (file: File, root: SyntaxNode): void => {
    if (seen.has(root)) return;
    seen.add(root);
    for (const { node } of walk(root)) {
      if (isSilent(node)) findings.add(`${file.path}:${lineOf(file, node)}`);
      const name = nameOf(node) ?? "";
      const origin = file.imported.has(name) ? fileAt(file.imported.get(name) ?? "") : file;
      for (const each of origin?.declared.get(name) ?? []) visit(origin ?? file, each);
    }
  };
  for (const path of paths) {
    const file = read(path)?.includes("fast-check") ? fileAt(path) : undefined;
    for (const property of file?.properties ?? []) if (file !== undefined) visit(file, property);
  }
  return [...findings].toSorted();
}

function open(path: string, read: Read): File | undefined {
  const source = read(path);
  if (source === undefined) return undefined;
  const declared = new Map<string, SyntaxNode[]>();
  const imported = new Map<string, string>();
  const properties: SyntaxNode[] = [];
  for (const { node, parent } of walk(parse(source, path))) {
    if (isProperty(node)) properties.push(...argumentsOf(node));
    if (node.type.startsWith("Import") && node.type.endsWith("Specifier")) {
      const from = isNode(parent?.["source"]) ? String(parent["source"]["value"]) : "";
      if (from.startsWith(".")) {
        imported.set(nameOf(node["local"]) ?? "", posix.join(path, "..", from));
      }
    }
    const isDeclaration = ["FunctionDeclaration", "VariableDeclarator"].includes(node.type);
    const name = isDeclaration ? nameOf(node["id"]) : undefined;
    if (name !== undefined) declared.set(name, [...(declared.get(name) ?? []), node]);
  }
  return { path, source, declared, imported, properties };
}

function isProperty(node: SyntaxNode): boolean {
  const callee = memberOf(node["callee"]);
  return nameOf(callee["object"]) === "fc" && generators.has(nameOf(callee["property"]) ?? "");
}

/** Whether a node is an assertion without a message that does not compare structures. */
function isSilent(node: SyntaxNode): boolean {
  if (node.type !== "CallExpression") return false;
  const callee = memberOf(node["callee"]);
  const [expected] = argumentsOf(node);
  return (
    isExpectation(callee["object"]) &&
    (!structural.has(nameOf(callee["property"]) ?? "") ||
      (expected !== undefined && scalars.has(expected.type)))
  );
}

/** Whether a node is a call of `expect` without a message, with modifiers such as `.not` or none. */
function isExpectation(node: unknown): boolean {
  if (!isNode(node)) return false;
  if (node.type === "MemberExpression") return isExpectation(node["object"]);
  return nameOf(node["callee"]) === "expect" && argumentsOf(node).length === 1;
}

/** The fields of `a.b`. Other nodes have none. */
function memberOf(node: unknown): Partial<SyntaxNode> {
  return isNode(node) && node.type === "MemberExpression" ? node : {};
}

const argumentsOf = (call: SyntaxNode): SyntaxNode[] => [call["arguments"]].flat().filter(isNode);

const lineOf = ({ source }: File, node: SyntaxNode): number =>
  source.slice(0, Number(node["start"])).split("\n").length;

const readTest: Read = (path) =>
  path.startsWith("test/") && existsSync(path) ? readFileSync(path, "utf8") : undefined;
