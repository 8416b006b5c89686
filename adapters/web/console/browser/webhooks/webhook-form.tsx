import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { CreateWebhook, EventPattern, Webhook } from "../../../../../src/index.ts";
import { ActionDialog, newKey, Select, TextField } from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";
import { EventChoice, withoutCovered } from "./event-choice.tsx";

interface WebhookFormProps {
  /** The endpoint to change. Absent for a new one. */
  readonly webhook?: Webhook;
  /** Saves the values. `first` are those that the form began with. */
  readonly onSave: (values: CreateWebhook, key: string, first: CreateWebhook) => Promise<void>;
  readonly onClose: () => void;
}

/** Adds or changes an endpoint. */
export function WebhookForm({ webhook, onSave, onClose }: WebhookFormProps): JSX.Element {
  const [url, setUrl] = useState(webhook?.url ?? "");
  const [chosen, setChosen] = useState<readonly EventPattern[]>(webhook?.events ?? ["*"]);
  const [description, setDescription] = useState(webhook?.description ?? "");
  const [ordering, setOrdering] = useState(webhook?.ordering ?? "none");
  const events = withoutCovered(chosen);
  const values = { url, events, ordering, ...(description !== "" && { description }) };
  // Not those of the endpoint at the time of saving: the page may have read it again since.
  const [first] = useState(values);
  // The same values have the same key, so that a repeated attempt adds one endpoint.
  const key = useMemo(newKey, [JSON.stringify(values)]);
  return (
    <ActionDialog
      title={t(webhook === undefined ? "webhookAdd" : "webhookEdit")}
      confirm={t(webhook === undefined ? "add" : "save")}
      canConfirm={url !== "" && events.length > 0}
      onConfirm={() => onSave(values, key, first)}
      onClose={onClose}
    >
      {(problemOf) => (
        <>
          <TextField
            label={t("address")}
            type="url"
            placeholder="https://example.com/webhooks/tidings"
            hint={t("webhookUrlHint")}
            problem={problemOf("/url")}
            value={url}
            onChange={setUrl}
          />
          <EventChoice chosen={chosen} onChange={setChosen} />
          <Select
            label={t("webhookOrdering")}
            value={ordering}
            options={[
              { value: "none", label: t("orderingNone") },
              { value: "fifo", label: t("orderingFifo") },
            ]}
            onChange={setOrdering}
          />
          <TextField
            label={t("description")}
            isOptional
            problem={problemOf("/description")}
            value={description}
            onChange={setDescription}
          />
        </>
      )}
    </ActionDialog>
  );
}
