/**
 * Builds the browser halves of the pages into `dist/web/<page>`. `manifest.json` there maps
 * `main.tsx` to its hashed files. The chat widget is one file, `dist/web/widget/widget.js`, since
 * other websites name it. All libraries are bundled.
 */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const hashedFiles = { input: "main.tsx" };
const oneScript = {
  input: "main.tsx",
  output: { format: "iife", entryFileNames: "widget.js" },
} as const;

const pages = { inbox: hashedFiles, console: hashedFiles, widget: oneScript };

/** The widget must be small. It is written for Preact and drawn by a part of it. */
const view = fileURLToPath(new URL("adapters/web/widget/browser/view.ts", import.meta.url));
const ownView = [{ find: /^preact(\/jsx-runtime)?$/, replacement: view }];

for (const [page, rolldownOptions] of Object.entries(pages)) {
  const root = fileURLToPath(new URL(`adapters/web/${page}/browser`, import.meta.url));
  if (!existsSync(root)) continue;
  await build({
    configFile: false,
    root,
    base: "./",
    logLevel: "warn",
    publicDir: false,
    resolve: { alias: page === "widget" ? ownView : [] },
    build: {
      outDir: fileURLToPath(new URL(`dist/web/${page}`, import.meta.url)),
      emptyOutDir: true,
      manifest: "manifest.json",
      target: ["chrome123", "edge123", "firefox125", "safari17.5"],
      modulePreload: false,
      // A data URL would need a wider content security policy.
      assetsInlineLimit: 0,
      rolldownOptions,
    },
  });
}
