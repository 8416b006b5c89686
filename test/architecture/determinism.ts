import { importsOf, nameOf, parse, walk, type SyntaxNode } from "./syntax.ts";

/** Globals with side effects or hidden inputs. `globalThis` would give access to all of them. */
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

/** Globals with one impure member. Only uses that clearly do not reach that member are allowed. */
const impureMembers = new Map([
  ["Math", "random"],
  ["AbortSignal", "timeout"],
  ["Date", "now"],
  ["Temporal", "Now"],
]);

/** The exports of `node:crypto` that draw random numbers, or that give access to those that do. */
const randomExports = /^(random|generate|getRandomValues|webcrypto|subtle|default$|\*$)/;

/**
 * Describes each use of a clock, randomness, a timer or the outside world that bypasses the ports.
 */
export function hiddenInputs(path: string, source: string): string[] {
  const program = parse(source);
  const findings = new Set<string>();
  for (const { from, names } of importsOf(program)) {
    for (const name of from === "node:crypto" ? names : []) {
      if (randomExports.test(name)) findings.add(`${name} of ${from}`);
    }
  }
  for (const { node, parent, field } of walk(program)) {
    if (node.type !== "Identifier" || parent === undefined || isLabel(parent, field)) continue;
    const name = nameOf(node) ?? "";
    if (bannedNames.has(name)) findings.add(name);
    const part = impureMembers.get(name);
    if (part !== undefined && !isPure(name, part, parent, field)) {
      findings.add(name === "Date" ? "Date" : `${name}.${part}`);
    }
  }
  return [...findings].map((finding) => `${path} uses ${finding}`);
}

/** Whether the identifier is a member, a property or a type, and so not the global of that name. */
function isLabel(parent: SyntaxNode, field: string | undefined): boolean {
  if (field === "property" || field === "key") {
    return parent["computed"] !== true && parent["shorthand"] !== true;
  }
  return parent.type.startsWith("TS") && !expressions.has(parent.type);
}

/** TypeScript nodes that wrap an expression. */
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
  // `new Date(value)` converts. Without arguments, or without `new`, it reads the clock.
  const given = parent["arguments"];
  return (
    name === "Date" &&
    parent.type === "NewExpression" &&
    field === "callee" &&
    Array.isArray(given) &&
    given.length > 0
  );
}
