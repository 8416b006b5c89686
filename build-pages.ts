/**
 * Builds the browser halves of the pages into `dist/web/<page>`. `manifest.json` there maps
 * `main.tsx` to its hashed files. All libraries are bundled.
 */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const pages = ["inbox", "console"];

for (const page of pages) {
  const root = fileURLToPath(new URL(`adapters/web/${page}/browser`, import.meta.url));
  if (!existsSync(root)) continue;
  await build({
    configFile: false,
    root,
    base: "./",
    logLevel: "warn",
    publicDir: false,
    build: {
      outDir: fileURLToPath(new URL(`dist/web/${page}`, import.meta.url)),
      emptyOutDir: true,
      manifest: "manifest.json",
      target: ["chrome123", "edge123", "firefox125", "safari17.5"],
      modulePreload: false,
      // A data URL would need a wider content security policy.
      assetsInlineLimit: 0,
      rolldownOptions: { input: "main.tsx" },
    },
  });
}
