/** What the pages have in common. A page's `main.tsx` imports it once, with its styles. */
import "./theme.css";
import "./components.css";

export * from "./app.tsx";
export * from "./components/button.tsx";
export * from "./components/dialog.tsx";
export * from "./components/display.tsx";
export * from "./components/field.tsx";
export * from "./components/icons.tsx";
export * from "./components/menu.tsx";
export * from "./components/picker.tsx";
export * from "./components/popover.tsx";
export * from "./components/safe-link.tsx";
export * from "./components/table.tsx";
export * from "./components/tabs.tsx";
export * from "./components/toasts.tsx";
export * from "./components/virtual-list.tsx";
export * from "./connection.ts";
export * from "./events.ts";
export * from "./formats.ts";
export * from "./http.ts";
export * from "./local.ts";
export * from "./problem.ts";
export * from "./resource.ts";
export * from "./router.ts";
export * from "./shortcuts.ts";
export * from "./texts.ts";
