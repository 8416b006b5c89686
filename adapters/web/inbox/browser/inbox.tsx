import type { JSX } from "preact";
import { Brand, ThemeMenu } from "../../shared/browser/index.ts";

export function Inbox(): JSX.Element {
  return (
    <header>
      <Brand>Inbox</Brand>
      <ThemeMenu />
    </header>
  );
}
