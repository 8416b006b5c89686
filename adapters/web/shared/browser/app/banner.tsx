import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { Icon } from "../components/icons.tsx";
import { streamState } from "../connection/event-stream.ts";
import { offlineUntil, probe } from "../connection/reachability.ts";
import { duration } from "../texts/formats.ts";
import { text } from "../texts/shared-texts.ts";

/** Says that the server does not answer, and when the page tries again. */
export function Banner(): JSX.Element | null {
  const until = offlineUntil.value;
  const [, redraw] = useState(0);
  useEffect(() => {
    if (until === null) return;
    const timer = setInterval(() => redraw((times) => times + 1), 1000);
    return () => clearInterval(timer);
  }, [until]);
  if (until === null) {
    if (streamState.value !== "interrupted") return null;
    return (
      <div class="banner" role="status">
        <Icon name="alert" />
        <span class="grow">{text("streamLost")}</span>
      </div>
    );
  }
  const wait = Math.max(0, until - Date.now());
  return (
    <div class="banner" role="status">
      <Icon name="alert" />
      <span class="grow">
        <strong>{text("offlineTitle")}</strong>{" "}
        <span class="banner-more">{text("offlineBody")}</span>
      </span>
      <span class="banner-wait" aria-hidden="true">
        {wait > 1000 ? text("tryAgainIn", { time: duration(wait) }) : ""}
      </span>
      <Button isSmall onClick={probe}>
        {text("tryNow")}
      </Button>
    </div>
  );
}
