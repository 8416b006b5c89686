import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { CreateWebhook, Webhook } from "../../../../../src/index.ts";
import { newKey, Select, TextArea, TextField } from "../../../shared/browser/index.ts";
import { ActionDialog } from "../parts/dialogs.tsx";
import { eventTypes } from "../reference/document.ts";
import { t } from "../texts.ts";

interface WebhookFormProps {
  /** The endpoint to change. Absent for a new one. */
  readonly webhook?: Webhook;
  readonly onSave: (values: CreateWebhook, key: string) => Promise<void>;
  readonly onClose: () => void;
}

/** Adds or changes an endpoint. */
export function WebhookForm({ webhook, onSave, onClose }: WebhookFormProps): JSX.Element {
  const [url, setUrl] = useState(webhook?.url ?? "");
  const [events, setEvents] = useState(webhook?.events.join("\n") ?? "*");
  const [description, setDescription] = useState(webhook?.description ?? "");
  const [ordering, setOrdering] = useState(webhook?.ordering ?? "none");
  const patterns = events.split(/[\s,]+/).filter(Boolean) as CreateWebhook["events"];
  const values = { url, events: patterns, ordering, ...(description !== "" && { description }) };
  // The same values have the same key, so that a repeated attempt adds one endpoint.
  const key = useMemo(newKey, [JSON.stringify(values)]);
  return (
    <ActionDialog
      title={t(webhook === undefined ? "webhookAdd" : "webhookEdit")}
      confirm={t(webhook === undefined ? "add" : "save")}
      canConfirm={url !== "" && patterns.length > 0}
      onConfirm={() => onSave(values, key)}
      onClose={onClose}
    >
      {(problemOf) => (
        <>
          <TextField
            label={t("columnUrl")}
            type="url"
            placeholder="https://example.com/webhooks/tidings"
            hint={t("webhookUrlHint")}
            problem={problemOf("/url")}
            value={url}
            onInput={({ currentTarget }) => setUrl(currentTarget.value)}
          />
          <TextArea
            label={t("columnEvents")}
            rows={3}
            class="input mono"
            hint={t("webhookEventsHint", { types: eventTypes().join(", ") })}
            problem={problemOf("/events")}
            value={events}
            onInput={({ currentTarget }) => setEvents(currentTarget.value)}
          />
          <Select
            label={t("webhookOrdering")}
            value={ordering}
            options={[
              { value: "none", label: t("orderingNone") },
              { value: "fifo", label: t("orderingFifo") },
            ]}
            onChange={({ currentTarget }) =>
              setOrdering(currentTarget.value === "fifo" ? "fifo" : "none")
            }
          />
          <TextField
            label={t("description")}
            isOptional
            problem={problemOf("/description")}
            value={description}
            onInput={({ currentTarget }) => setDescription(currentTarget.value)}
          />
        </>
      )}
    </ActionDialog>
  );
}
