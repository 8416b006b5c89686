/**
 * Writes `dist/openapi/descriptions.js`: the docstrings of the types that the OpenAPI document
 * describes. TypeScript's own API reads them. It is unstable, so `package.json` pins TypeScript to
 * one version.
 */
import { globSync, mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  API,
  SymbolFlags,
  type Checker,
  type Project,
  type Symbol,
} from "typescript/unstable/sync";
import { openApiDocument } from "./src/api/index.ts";
import type { Descriptions, TypeDescription } from "./src/api/openapi/descriptions.ts";
import { defaultLimits } from "./src/kernel/index.ts";
import { apiRoutes, tags } from "./src/modules.ts";

const pathOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Runs `task` on TypeScript's view of the product. TypeScript is a child process until it ends. */
export async function withProject<Result>(
  task: (project: Project) => Result | Promise<Result>,
): Promise<Result> {
  const api = new API({ cwd: pathOf(".") });
  try {
    const config = pathOf("tsconfig.build.json");
    const [project] = api.updateSnapshot({ openProjects: [config] }).getProjects();
    if (project === undefined) throw new Error(`no project at ${config}`);
    return await task(project);
  } finally {
    api.close();
  }
}

/** The docstring as one line. */
export const docOf = (checker: Checker, symbol: Symbol): string =>
  checker.getDocumentationCommentOfSymbol(symbol).replaceAll(/\s+/g, " ").trim();

/** Returns the interfaces and type aliases that the files of `src` export, by name. */
export function declaredTypes({ program, checker }: Project): ReadonlyMap<string, Symbol[]> {
  const symbols = globSync("src/**/*.ts", { cwd: pathOf(".") }).flatMap((path) => {
    const file = program.getSourceFile(pathOf(path));
    const module = file && checker.getSymbolAtLocation(file);
    return module === undefined ? [] : checker.getExportsOfModule(module);
  });
  const kinds = SymbolFlags.Interface | SymbolFlags.TypeAlias;
  // Several files export the same symbol, since `export *` passes it on.
  const types = new Set(symbols.filter(({ flags }) => (flags & kinds) !== 0));
  return Map.groupBy(types, ({ name }) => name);
}

/** Reads the docstrings of the types that the schemas of the document name. */
function describedTypes(project: Project): Descriptions {
  const { checker } = project;
  const types = declaredTypes(project);
  const descriptions: Record<string, TypeDescription> = {};
  const read = (name: string): TypeDescription => {
    const [symbol, ...others] = types.get(name) ?? [];
    if (symbol === undefined) throw new Error(`no file of src exports the type ${name}`);
    if (others.length > 0) throw new Error(`several files of src export a type ${name}`);
    const type = checker.getDeclaredTypeOfSymbol(symbol);
    const fields = type.isObjectType() ? checker.getPropertiesOfType(type) : [];
    return {
      description: textOf(symbol, name),
      fields: Object.fromEntries(
        fields.map((field) => [field.name, textOf(field, `${name}.${field.name}`)]),
      ),
    };
  };
  const textOf = (symbol: Symbol, path: string): string => {
    const text = docOf(checker, symbol);
    if (text === "") throw new Error(`${path} has no docstring`);
    return text;
  };
  const describe = (name: string): TypeDescription => (descriptions[name] ??= read(name));
  // Only called for what it asks `describe`. The document itself is not needed.
  openApiDocument(apiRoutes(defaultLimits), tags, defaultLimits, describe);
  return descriptions;
}

if (import.meta.main) {
  const descriptions = JSON.stringify(await withProject(describedTypes));
  mkdirSync(pathOf("dist/openapi"), { recursive: true });
  writeFileSync(
    pathOf("dist/openapi/descriptions.js"),
    `export const descriptions = ${descriptions};\n`,
  );
}
