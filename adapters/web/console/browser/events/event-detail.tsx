import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { Event } from "../../../../../src/index.ts";
import {
  api,
  dateTime,
  Facts,
  go,
  Icon,
  linkTo,
  LoadState,
  Resource,
} from "../../../shared/browser/index.ts";
import { useCoalesced, useLive } from "../live.ts";
import { Json } from "../parts/json.tsx";
import { Copied } from "../parts/values.tsx";
import { t } from "../texts.ts";

const refreshDelayMs = 200;

interface EventDetailProps {
  readonly id: string;
  /** The event, if the list has it. */
  readonly known: Event | undefined;
  readonly type: string | undefined;
}

/** One event with its payload. */
export function EventDetail({ id, known, type }: EventDetailProps): JSX.Element {
  const resource = useMemo(
    () =>
      new Resource<Event>((signal) => api.get(`v1/events/${encodeURIComponent(id)}`, { signal })),
    [id],
  );
  useEffect(() => {
    if (known === undefined) void resource.reload();
    else resource.set(known);
    return () => resource.stop();
  }, [resource]);
  const refresh = useCoalesced(() => resource.reload(), refreshDelayMs);
  useLive({
    onEvent: ({ type: each, data }) => {
      // The event may be about the message, or quote it.
      if (each === "message.redacted") refresh();
      // The server has blanked the events that name the contact.
      const shown = JSON.stringify(resource.state.peek().data?.data ?? {});
      if (each === "contact.erased" && shown.includes(data.contact_id)) {
        go(linkTo(["events"], { type }), true);
      }
    },
    onGap: refresh,
  });
  const { data: event } = resource;
  const back = (
    <a class="page-back" href={linkTo(["events"], { type })}>
      <Icon name="back" />
      {t("events")}
    </a>
  );
  if (event === undefined) {
    return (
      <div class="detail">
        {back}
        <LoadState of={resource} />
      </div>
    );
  }
  const message = "message_id" in event.data ? event.data.message_id : undefined;
  return (
    <div class="detail">
      {back}
      <h2 class="mono">{event.type}</h2>
      <Facts
        of={[
          [t("fieldId"), <Copied key="id" value={event.id} />],
          [t("fieldTime"), dateTime(event.created_at)],
          [
            t("message"),
            typeof message === "string" && (
              <a key="message" class="mono" href={linkTo(["messages", message])}>
                {message}
              </a>
            ),
          ],
        ]}
      />
      <Json value={event} label={t("eventPayload")} />
    </div>
  );
}
