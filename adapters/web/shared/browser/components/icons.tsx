import type { JSX } from "preact";

/** The strokes of each icon on a grid of 24 by 24. */
const paths = {
  activity: "M3 12h4l3-8 4 16 3-8h4",
  agent:
    "M12 4v3M6 7h12a2 2 0 0 1 2 2v7a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2V9a2 2 0 0 1 2-2ZM9 12v1" +
    "M15 12v1M2 12h2M20 12h2M9 21h6",
  alert:
    "M12 8v5M12 16.5v.5M10.3 3.9 2.6 17.2A2 2 0 0 0 4.3 20h15.4a2 2 0 0 0 1.7-2.8L13.7 3.9a2 " +
    "2 0 0 0-3.4 0Z",
  archive: "M4 8h16v11a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1ZM3 4h18v4H3ZM10 12h4",
  "arrow-in": "M18 6 6 18M6 9v9h9",
  "arrow-out": "M6 18 18 6M9 6h9v9",
  back: "M19 12H5M11 6l-6 6 6 6",
  bell: "M6 16V11a6 6 0 0 1 12 0v5l1.5 2h-15ZM10 20.5a2 2 0 0 0 4 0",
  calendar: "M4 6h16v14H4ZM4 10h16M8 3v4M16 3v4",
  chat: "M4 5h16v11H9l-5 4Z",
  chart: "M4 20V4M4 20h16M8 16v-4M12.5 16V8M17 16v-6",
  check: "m5 12.5 4.5 4.5L19 7.5",
  "check-all": "m2.5 12.5 4 4L15 8M11.5 15.5l1 1L21 8",
  "chevron-down": "m6 9 6 6 6-6",
  "chevron-right": "m9 6 6 6-6 6",
  clock: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM12 7v5l3.5 2",
  close: "M6 6l12 12M18 6 6 18",
  code: "m8 7-5 5 5 5M16 7l5 5-5 5M14 4l-4 16",
  compose: "M11 5H5v14h14v-6M10 14v-3l8.5-8.5 3 3L13 14Z",
  contacts:
    "M6 3h12a1 1 0 0 1 1 1v16a1 1 0 0 1-1 1H6a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1ZM3 8h3.5M3 16h3.5" +
    "M12.5 12a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM8.5 17c.5-2 2-3 4-3s3.5 1 4 3",
  copy: "M9 9h11v11H9ZM5 15H4V4h11v1",
  dots:
    "M6 12a1 1 0 1 1-2 0 1 1 0 0 1 2 0ZM13 12a1 1 0 1 1-2 0 1 1 0 0 1 2 0Z" +
    "M20 12a1 1 0 1 1-2 0 1 1 0 0 1 2 0Z",
  edit: "M4 20h4L19 9l-4-4L4 16ZM13 7l4 4",
  external: "M14 4h6v6M20 4l-9 9M18 14v6H4V6h6",
  filter: "M4 6h16M7 12h10M10 18h4",
  flag: "M5 21V4h12l-2 4 2 4H5",
  handoff: "M8 12h13M16 7l5 5-5 5M3 5v14",
  image: "M4 5h16v14H4ZM4 16l5-5 4 4 3-3 4 4M15.5 9.5h.01",
  inbox: "M4 13h4l1.5 3h5L16 13h4M4 13l3-8h10l3 8v6H4Z",
  info: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM12 11v6M12 7.5v.5",
  key: "M8 19a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM11 12l8-8M16 7l3 3",
  keyboard: "M3 6h18v12H3ZM7 10h.01M11 10h.01M15 10h.01M7 14h10",
  label: "M3 12V4h8l10 10-8 8ZM7.5 8.5h.01",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  merge: "M6 4v4a6 6 0 0 0 6 6v6M18 4v4a6 6 0 0 1-6 6M9 17l3 3 3-3",
  moon: "M20 14.5A8 8 0 0 1 9.5 4 8 8 0 1 0 20 14.5Z",
  note: "M5 4h14v10l-6 6H5ZM13 20v-6h6",
  panel: "M4 5h16v14H4ZM15 5v14",
  paperclip:
    "m20 11-8.5 8.5a5 5 0 0 1-7-7L13 4a3.3 3.3 0 0 1 4.7 4.7L9.3 17a1.7 1.7 0 0 1-2.4-2.4L14.5 7",
  pause: "M9 6v12M15 6v12",
  person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4 20.5c1-4 4.2-5.5 8-5.5s7 1.5 8 5.5",
  phone: "M8 3h8a1 1 0 0 1 1 1v16a1 1 0 0 1-1 1H8a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1ZM11 18h2",
  play: "M8 5v14l11-7Z",
  plus: "M12 5v14M5 12h14",
  refresh: "M20 11a8 8 0 0 0-14.5-4L4 9M4 4v5h5M4 13a8 8 0 0 0 14.5 4L20 15M20 20v-5h-5",
  reply: "M10 7 5 12l5 5M5 12h9a5 5 0 0 1 5 5v2",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM16 16l4.5 4.5",
  send: "M4 12 20 4l-5 16-3.5-6.5ZM20 4l-8.5 9.5",
  settings:
    "M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM12 3v3M12 18v3M3 12h3M18 12h3M5.6 5.6l2.2 2.2" +
    "M16.2 16.2l2.2 2.2M5.6 18.4l2.2-2.2M16.2 7.8l2.2-2.2",
  snooze: "M12 21a8 8 0 1 0 0-16 8 8 0 0 0 0 16ZM9.5 10h5l-5 6h5M5 3 2.5 5.5M19 3l2.5 2.5",
  sun:
    "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2" +
    "M5 19l2-2M17 7l2-2",
  trash: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5",
  unread: "M4 6h10M4 6v13h16v-9M4 7l8 6 4-3M20 7a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z",
  terminal: "M4 5h16v14H4ZM7.5 9.5l3 2.5-3 2.5M12.5 15h4",
  users:
    "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM2.5 19.5c.8-3.5 3.3-5 6.5-5s5.7 1.5 6.5 5" +
    "M15.5 4.5a3.5 3.5 0 0 1 0 6.5M17.5 15c2.2.6 3.5 2 4 4.5",
  webhook:
    "M9.5 9.5a3.5 3.5 0 1 1 5-3.2M9.5 9.5 6.5 15M8 16.5a3 3 0 1 1-4.5-2.2M9 17h7" +
    "M16 17a3 3 0 1 0 2.2-4.5M17 12.8 14.5 8",
} as const;

export type IconName = keyof typeof paths;

/** Icons that point along the line of text, and so turn around from right to left. */
const directed = new Set<IconName>([
  "back",
  "chevron-right",
  "handoff",
  "reply",
  "send",
  "external",
]);

/** An icon. It says nothing to screen readers: the control around it has a label. */
export function Icon({ name }: { readonly name: IconName }): JSX.Element {
  return (
    <svg
      class={directed.has(name) ? "icon icon-directed" : "icon"}
      viewBox="0 0 24 24"
      aria-hidden="true"
      focusable="false"
    >
      <path d={paths[name]} />
    </svg>
  );
}
