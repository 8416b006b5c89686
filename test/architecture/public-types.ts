/** Walks the types that users of the package see. */
import { resolve } from "node:path";
import {
  ObjectFlags,
  SignatureKind,
  SymbolFlags,
  type Checker,
  type ObjectType,
  type Project,
  type Symbol,
  type Type,
  type TypeReference,
} from "typescript/unstable/sync";
import { docOf } from "../../build-descriptions.ts";
import { entries } from "../../tsup.config.ts";

export const root = resolve(import.meta.dirname, "../..");
const own = [resolve(root, "src"), resolve(root, "adapters")].map((path) => path.toLowerCase());

/** A function, option or field that an editor shows. */
export interface PublicName {
  /** Where it is: `tidings/sqlite sqlite`, or `SendMessage.ttl_seconds`. */
  readonly path: string;
  /** The text of its docstring, empty if it has none. */
  readonly doc: string;
}

/** A name that an entry exports. */
export interface ExportedName {
  readonly name: string;
  /** The entry: `index`, `ports`. */
  readonly entry: string;
  /** Whether it is a function or a constant. */
  readonly isValue: boolean;
}

/** Returns the names that the package's entries export. */
export function exportedNames(project: Project): readonly ExportedName[] {
  return exportsOf(project).map(({ entry, name, symbol }) => ({
    name,
    entry,
    isValue: (symbol.flags & (SymbolFlags.Function | SymbolFlags.Variable)) !== 0,
  }));
}

function exportsOf({ program, checker }: Project) {
  return Object.entries(entries).flatMap(([entry, path]) => {
    const file = program.getSourceFile(resolve(root, path));
    const module = file && checker.getSymbolAtLocation(file);
    if (module === undefined) throw new Error(`${path} exports nothing`);
    return checker.getExportsOfModule(module).map((exported) => {
      const isAlias = (exported.flags & SymbolFlags.Alias) !== 0;
      const symbol = isAlias ? checker.getAliasedSymbol(exported) : exported;
      return { entry, name: exported.name, symbol };
    });
  });
}

/** What users can reach from the package's entries. */
interface PublicTypes {
  /** Every function, option and field. */
  readonly names: readonly PublicName[];
  /** The named types that no entry exports, each with the place that leads to it. */
  readonly unexported: readonly string[];
}

/** Walks the types that the entries export, and the types that these name. */
export function publicTypes(project: Project): PublicTypes {
  const { checker } = project;
  const exported = exportsOf(project);
  const importable = new Set(exported.map(({ symbol }) => declarationOf(symbol)));
  const names = new Map<string, PublicName>();
  const unexported = new Map<string, string>();
  const seen = new Set<number>();
  const generics = new Set<string>();
  const note = (path: string, symbol: Symbol): void => {
    const key = declarationOf(symbol);
    // The fields of a mapped type such as `Omit` are declared elsewhere.
    if (!names.has(key)) names.set(key, { path, doc: docOf(checker, symbol) });
  };

  const visit = (type: Type | undefined, path: string): void => {
    if (type === undefined || seen.has(type.id)) return;
    seen.add(type.id);
    const named = type.getAliasSymbol() ?? type.getSymbol();
    if (named !== undefined && isOwn(named) && isType(named) && !isOfAiSdk(named)) {
      const declaration = declarationOf(named);
      if (!importable.has(declaration)) unexported.set(declaration, `${named.name} (${path})`);
    }
    for (const part of type.isUnionType() || type.isIntersectionType() ? type.getTypes() : []) {
      visit(part, path);
    }
    if (!type.isObjectType()) return;
    const typeArguments = argumentsOf(checker, type);
    for (const argument of typeArguments) visit(argument, path);
    // A generic type has the same fields whatever its arguments, and its methods may return it with
    // ever new ones.
    if (typeArguments.length > 0) {
      const symbol = type.getSymbol();
      const key = symbol === undefined ? "" : declarationOf(symbol);
      if (generics.has(key)) return;
      generics.add(key);
    }
    for (const { valueType } of checker.getIndexInfosOfType(type)) {
      visit(valueType, path);
    }
    for (const kind of [SignatureKind.Call, SignatureKind.Construct]) {
      for (const signature of checker.getSignaturesOfType(type, kind)) {
        for (const parameter of signature.getParameters()) {
          visit(checker.getTypeOfSymbol(parameter), path);
        }
        visit(checker.getReturnTypeOfSignature(signature), path);
      }
    }
    const owner = (type.getAliasSymbol() ?? type.getSymbol())?.name ?? "";
    const place = owner === "" || owner.startsWith("__") ? path : owner;
    for (const field of checker.getPropertiesOfType(type)) {
      if (!isOwn(field) || isPrivate(field)) continue;
      note(`${place}.${field.name}`, field);
      visit(checker.getTypeOfSymbol(field), `${place}.${field.name}`);
    }
  };

  for (const { entry, symbol } of exported) {
    if (!isOwn(symbol)) continue;
    note(`${entry} ${symbol.name}`, symbol);
    if ((symbol.flags & SymbolFlags.Type) !== 0) {
      visit(checker.getDeclaredTypeOfSymbol(symbol), symbol.name);
    }
    if ((symbol.flags & SymbolFlags.Value) !== 0) {
      visit(checker.getTypeOfSymbol(symbol), symbol.name);
    }
  }
  return { names: [...names.values()], unexported: [...unexported.values()].toSorted() };
}

/** Identifies a symbol: the compiler makes several objects of one. */
const declarationOf = ({ declarations: [declaration] }: Symbol): string =>
  `${declaration?.path}:${declaration?.index}`;

const isType = ({ flags, name }: Symbol): boolean =>
  (flags & SymbolFlags.Type & ~SymbolFlags.TypeParameter) !== 0 && !name.startsWith("__");

/** Whether a type describes one of the AI SDK, from which an application imports it. */
const isOfAiSdk = ({ declarations }: Symbol): boolean =>
  declarations.some(({ path }) => path.endsWith("/language-model/specification.ts"));

const isPrivate = ({ name }: Symbol): boolean => /^__#\d+@#/.test(name);

const isOwn = ({ declarations }: Symbol): boolean =>
  declarations.some(({ path }) => own.some((folder) => path.toLowerCase().startsWith(folder)));

const argumentsOf = (checker: Checker, type: ObjectType): readonly Type[] =>
  (type.objectFlags & ObjectFlags.Reference) === 0
    ? []
    : checker.getTypeArguments(type as TypeReference);
