import type { JSX } from "preact";

const icon = (path: string) => (): JSX.Element => (
  <svg viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <path d={path} />
  </svg>
);

export const ChatIcon = icon(
  "M12 3.5c-5 0-9 3.4-9 7.7 0 2.3 1.2 4.4 3.1 5.8-.1 1-.5 2-1.2 2.8-.2.3 0 .7.3.7 1.7-.1 3.2-.7 " +
    "4.4-1.6.8.2 1.6.3 2.4.3 5 0 9-3.5 9-7.9s-4-7.8-9-7.8Z",
);
export const DownIcon = icon("m6 9.5 6 6 6-6");
export const CloseIcon = icon("m6.5 6.5 11 11m0-11-11 11");
export const SendIcon = icon("M12 19V5.5m0 0-5.5 5.5M12 5.5l5.5 5.5");
export const FileIcon = icon(
  "M13.5 3.5H7A1.5 1.5 0 0 0 5.5 5v14A1.5 1.5 0 0 0 7 20.5h10a1.5 1.5 0 0 0 " +
    "1.5-1.5V8.5l-5-5Zm0 0v5h5",
);
export const AgentIcon = icon(
  "m12 4 1.6 4.9a2.4 2.4 0 0 0 1.5 1.5L20 12l-4.9 1.6a2.4 2.4 0 0 0-1.5 1.5L12 " +
    "20l-1.6-4.9a2.4 2.4 0 0 0-1.5-1.5L4 12l4.9-1.6a2.4 2.4 0 0 0 1.5-1.5L12 4Z",
);
export const PersonIcon = icon(
  "M12 12a3.8 3.8 0 1 0 0-7.6 3.8 3.8 0 0 0 0 7.6Zm-7 7.6c.6-3.2 3.5-5.1 7-5.1s6.4 1.9 7 5.1",
);
