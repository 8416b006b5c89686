import { relative } from "node:path";
import type { Node, SourceFile } from "typescript/unstable/ast";
import {
  isIdentifier,
  isObjectBindingPattern,
  isObjectLiteralExpression,
} from "typescript/unstable/ast/is";
import { SymbolFlags, type Project, type Symbol, type Type } from "typescript/unstable/sync";
import { root } from "./public-types.ts";

/** A version of Node: the major and the minor number. */
export type Version = readonly [major: number, minor: number];

/** The globals that Node 22 lacks and Node 24 has. Their declarations do not say so. */
const globalsOf24 =
  /^(?:AsyncDisposableStack|CloseEvent|DisposableStack|Float16Array|SuppressedError|URLPattern)$/;

/**
 * Returns the names of Node's API that the product uses and a version of Node 22 lacks, each as
 * `file name`. The declarations of Node have the versions: `@since v24.0.0, v22.16.0` means that
 * Node 24.0.0 was the first to have the name, and that Node 22.16.0 got it later.
 */
export function newerThan(oldest: Version, project: Project): string[] {
  const { program, checker } = project;
  const isNewer = (symbol: Symbol): boolean => {
    const isOfNode = symbol.declarations.some(({ path }) => path.includes("/node_modules/"));
    if (!isOfNode) return false;
    if (globalsOf24.test(symbol.name)) return true;
    const since = checker.getJsDocTagsOfSymbol(symbol).find(({ name }) => name === "since");
    return since !== undefined && !hasAny(oldest, since.text ?? "");
  };
  const findings = new Set<string>();
  for (const path of program.getSourceFileNames()) {
    const file = relative(root, path).replaceAll("\\", "/");
    const source = /^(?:src|adapters)\//.test(file) ? program.getSourceFile(path) : undefined;
    for (const symbol of source === undefined ? [] : symbolsIn(source, project)) {
      if (isNewer(symbol)) findings.add(`${file} ${symbol.name}`);
    }
  }
  return [...findings].toSorted();
}

/** Whether a version has what came with these versions: `v24.0.0, v22.16.0`. */
function hasAny([major, minor]: Version, others: string): boolean {
  return [...others.matchAll(/v(\d+)\.(\d+)/g)].some(
    ([, a, b]) => Number(a) < major || (Number(a) === major && Number(b) <= minor),
  );
}

/** The symbols that a file uses, with the fields of object literals and of destructured objects. */
function symbolsIn(source: SourceFile, { checker }: Project): Set<Symbol> {
  const names: Node[] = [];
  const symbols = new Set<Symbol>();
  const addFields = (type: Type | undefined, fields: readonly (Node | undefined)[]): void => {
    // Options may be left out, so that their type is a union with undefined.
    const object = type && checker.getNonNullableType(type);
    for (const field of fields) {
      const isNamed = object !== undefined && field !== undefined && isIdentifier(field);
      const symbol = isNamed ? checker.getPropertyOfType(object, field.text) : undefined;
      if (symbol !== undefined) symbols.add(symbol);
    }
  };
  const visit = (node: Node): void => {
    if (isIdentifier(node)) {
      names.push(node);
    } else if (isObjectLiteralExpression(node)) {
      const fields = node.properties.map((each) => ("name" in each ? each.name : undefined));
      addFields(checker.getContextualType(node), fields);
    } else if (isObjectBindingPattern(node)) {
      const fields = node.elements.map(({ propertyName, name }) => propertyName ?? name);
      addFields(checker.getTypeAtLocation(node), fields);
    }
    node.forEachChild(visit);
  };
  source.forEachChild(visit);
  for (const symbol of checker.getSymbolAtLocation(names)) {
    if (symbol === undefined) continue;
    const isImported = (symbol.flags & SymbolFlags.Alias) !== 0;
    symbols.add(isImported ? checker.getAliasedSymbol(symbol) : symbol);
  }
  return symbols;
}
