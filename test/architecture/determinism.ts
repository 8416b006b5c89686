import { type SyntaxNode, importsOf, nameOf, parse, walk } from "./syntax.ts";

/** Names that reach outside of the ports. `globalThis` and its like would lead to all of them. */
const bannedNames = new Set([
  "setTimeout",
  "setInterval",
  "setImmediate",
  "scheduler",
  "performance",
  "crypto",
  "fetch",
  "process",
  "console",
  "globalThis",
  "global",
]);

/** Objects of which one part reads the world and the rest is pure: allowed only where that part is seen not to be meant. */
const halfBanned = new Map([
  ["Math", "random"],
  ["AbortSignal", "timeout"],
  ["Date", "now"],
  ["Temporal", "Now"],
]);

/** What is left of `node:crypto`: hashes, keyed hashes, ciphers and comparison, none of which draws. */
const drawing = /^(random|generate|getRandomValues|webcrypto|subtle|default$|\*$)/;

/** One sentence for each place at which a module reads a clock, draws, sleeps or talks past the ports. */
export function hiddenInputs(
  path: string,
  source: string,
  allowed: readonly string[] = [],
): string[] {
  const program = parse(source);
  const findings = new Set<string>();
  for (const { from, names } of importsOf(program)) {
    for (const name of from === "node:crypto" ? names : []) {
      if (drawing.test(name)) findings.add(`${name} of ${from}`);
    }
  }
  for (const { node, parent, field } of walk(program)) {
    if (node.type !== "Identifier" || parent === undefined || isLabel(parent, field)) continue;
    const name = nameOf(node) ?? "";
    if (bannedNames.has(name) && !allowed.includes(name)) findings.add(name);
    const part = halfBanned.get(name);
    if (part !== undefined && !isPure(name, part, parent, field)) {
      findings.add(name === "Date" ? "Date" : `${name}.${part}`);
    }
  }
  return [...findings].map((finding) => `${path} uses ${finding}`);
}

/** The name of a member, a property or a type says nothing of the global of that name. */
function isLabel(parent: SyntaxNode, field: string | undefined): boolean {
  if (field === "property" || field === "key") {
    return parent["computed"] !== true && parent["shorthand"] !== true;
  }
  return parent.type.startsWith("TS") && !expressions.has(parent.type);
}

/** Nodes of TypeScript's own that wrap an expression. */
const expressions = new Set([
  "TSAsExpression",
  "TSSatisfiesExpression",
  "TSNonNullExpression",
  "TSTypeAssertion",
]);

function isPure(
  name: string,
  part: string,
  parent: SyntaxNode,
  field: string | undefined,
): boolean {
  if (parent.type === "BinaryExpression") return parent["operator"] === "instanceof";
  // Imported under another name it would not be found any more.
  if (parent.type === "ImportSpecifier") return nameOf(parent["local"]) === name;
  if (parent.type === "MemberExpression" && field === "object") {
    return parent["computed"] !== true && nameOf(parent["property"]) !== part;
  }
  // `new Date(…)` of something is a conversion; without arguments, or called as a function, it reads the clock.
  const given = parent["arguments"];
  return (
    name === "Date" &&
    parent.type === "NewExpression" &&
    field === "callee" &&
    Array.isArray(given) &&
    given.length > 0
  );
}
