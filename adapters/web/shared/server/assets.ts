/** The built files of a page. */
import { readFileSync } from "node:fs";
import * as z from "zod";
import type { ApiRequest, ApiResponse } from "../../../../src/api/index.ts";
import { TidingsError } from "../../../../src/kernel/index.ts";
import { Compressible, preferredEncoding } from "./compressible.ts";

/** The package's folder, seen from the built file or from this source. */
const root = new URL(import.meta.url.endsWith(".ts") ? "../../../../" : "../", import.meta.url);

/** The folder into which the package's build writes a page: `inbox`, `console` or `widget`. */
export const builtPage = (page: string): URL => new URL(`dist/web/${page}/`, root);

/** The version of the package. */
export const packageVersion = (): string =>
  z
    .object({ version: z.string() })
    .parse(JSON.parse(readFileSync(new URL("package.json", root), "utf8"))).version;

const manifestSchema = z.record(
  z.string(),
  z.object({
    file: z.string(),
    isEntry: z.boolean().optional(),
    imports: z.array(z.string()).optional(),
    css: z.array(z.string()).optional(),
    assets: z.array(z.string()).optional(),
  }),
);

type Chunks = z.infer<typeof manifestSchema>;

/** The types of the files that a build writes. A file of another type is not served. */
const types: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  png: "image/png",
  webp: "image/webp",
  woff2: "font/woff2",
};

const compressed = new Set(["js", "css", "svg"]);
const brotliQuality = 9;

interface Asset {
  readonly type: string;
  readonly bytes: Uint8Array;
  /** Absent if compression does not help. */
  readonly compressible?: Compressible;
}

/** The built files of a page, which are read once. Only the files in the manifest are served. */
export class Assets {
  readonly scripts: readonly string[];
  readonly styles: readonly string[];
  readonly #files: ReadonlyMap<string, Asset>;

  /** @throws TidingsError `not_configured` when the page has not been built */
  constructor(subject: string, folder: URL) {
    const chunks = readManifest(subject, folder);
    const entry = Object.entries(chunks).find(([, { isEntry }]) => isEntry === true);
    if (entry === undefined) throw notBuilt(subject, folder, "its manifest has no entry");
    const [name, { file }] = entry;
    const loaded = importedBy(chunks, name);
    this.scripts = [file];
    this.styles = [...new Set(loaded.flatMap((each) => chunks[each]?.css ?? []))];
    const paths = Object.values(chunks).flatMap(({ file: own, css = [], assets = [] }) => [
      own,
      ...css,
      ...assets,
    ]);
    this.#files = new Map(
      [...new Set(paths)].flatMap((path) => {
        const type = types[extensionOf(path)];
        return type === undefined ? [] : [[path, readAsset(subject, folder, path, type)]];
      }),
    );
  }

  /**
   * Returns the response with the file at `path`. It has the file's own headers and
   * `commonHeaders`. Returns undefined if there is no such file.
   */
  async respond(
    request: ApiRequest,
    path: string,
    commonHeaders: Readonly<Record<string, string>>,
  ): Promise<ApiResponse | undefined> {
    const asset = this.#files.get(path);
    if (asset === undefined) return undefined;
    const { type, bytes, compressible } = asset;
    const headers = {
      ...commonHeaders,
      "Content-Type": type,
      // The name contains a hash of the content.
      "Cache-Control": "public, max-age=31536000, immutable",
      Vary: "Accept-Encoding",
    };
    const encoding = preferredEncoding(request);
    if (compressible === undefined || encoding === undefined) {
      return { status: 200, headers, body: bytes };
    }
    const body = await compressible.in(encoding);
    return { status: 200, headers: { ...headers, "Content-Encoding": encoding }, body };
  }
}

function readManifest(subject: string, folder: URL): Chunks {
  try {
    const text = readFileSync(new URL("manifest.json", folder), "utf8");
    return manifestSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw notBuilt(subject, folder, "its manifest.json is missing or damaged", cause);
  }
}

/** Returns the names of a chunk and of all chunks that it imports, imported ones first. */
function importedBy(chunks: Chunks, name: string, seen = new Set<string>()): readonly string[] {
  if (seen.has(name)) return [];
  seen.add(name);
  const imports = chunks[name]?.imports ?? [];
  return [...imports.flatMap((each) => importedBy(chunks, each, seen)), name];
}

const extensionOf = (path: string): string => path.slice(path.lastIndexOf(".") + 1);

function readAsset(subject: string, folder: URL, path: string, type: string): Asset {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(new URL(path, folder));
  } catch (cause) {
    throw notBuilt(subject, folder, `its file ${path} is missing`, cause);
  }
  if (!compressed.has(extensionOf(path))) return { type, bytes };
  return { type, bytes, compressible: new Compressible(bytes, brotliQuality) };
}

/** The error for a page that has not been built, or for one of its files. */
export function notBuilt(subject: string, folder: URL, why: string, cause?: unknown): TidingsError {
  return new TidingsError(
    "not_configured",
    `${subject}: the page is not in ${folder.href}: ${why}. The published package contains it. ` +
      "If your server is bundled, leave tidings out of the bundle: esbuild --external:tidings. " +
      "In a copy of the repository, run `npm run compile`.",
    { detail: `${subject}: the page has not been built.`, cause },
  );
}
