import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type {
  CreateWebhook,
  DeliveryWithAttempts,
  Webhook,
  WebhookWithSecret,
} from "../../../../../src/index.ts";
import {
  ActionDialog,
  api,
  Button,
  goFromHere,
  linkTo,
  may,
  Menu,
  Select,
  TextField,
  timeNow,
  toast,
  useAction,
  useOpened,
} from "../../../shared/browser/index.ts";
import { changedFields } from "../changed-fields.ts";
import { RotateDialog, SecretDialog } from "../parts/dialogs.tsx";
import { eventTypes } from "../reference/document.ts";
import { t } from "../texts.ts";
import { WebhookForm } from "./webhook-form.tsx";

type OpenDialog = "test" | "recover" | "edit" | "rotate" | "delete";

interface WebhookActionsProps {
  readonly webhook: Webhook;
  readonly onChange: (webhook: Webhook) => void;
  /** Called when attempts were asked for. */
  readonly onDone: () => void;
}

/** What one can do with an endpoint. */
export function WebhookActions({
  webhook,
  onChange,
  onDone,
}: WebhookActionsProps): JSX.Element | null {
  const [dialog, setDialog, close] = useOpened<OpenDialog>();
  const [rotated, setRotated] = useState<WebhookWithSecret>();
  const path = `v1/webhooks/${webhook.id}`;
  const isEnabled = webhook.status === "enabled";
  const toggle = useAction(async () => {
    const status = isEnabled ? "paused" : "enabled";
    onChange(await api.patch<Webhook>(path, { status }));
    toast({ message: t(isEnabled ? "webhookPaused" : "webhookEnabled") });
  });
  if (!may("webhooks:write")) return null;
  return (
    <>
      <Button icon="send" onClick={() => setDialog("test")}>
        {t("webhookTest")}
      </Button>
      <Button icon={isEnabled ? "pause" : "play"} {...toggle}>
        {t(isEnabled ? "pause" : "enable")}
      </Button>
      <Menu
        label={t("moreActions")}
        kind="secondary"
        items={[
          { label: t("webhookEdit"), icon: "edit", onPick: () => setDialog("edit") },
          { label: t("webhookRecover"), icon: "refresh", onPick: () => setDialog("recover") },
          { label: t("webhookRotate"), icon: "key", onPick: () => setDialog("rotate") },
          {
            label: t("webhookDelete"),
            icon: "trash",
            isDanger: true,
            onPick: () => setDialog("delete"),
          },
        ]}
      />
      {dialog === "test" && <TestDialog path={path} onClose={close} onDone={onDone} />}
      {dialog === "recover" && <RecoverDialog path={path} onClose={close} onDone={onDone} />}
      {dialog === "edit" && (
        <WebhookForm
          webhook={webhook}
          onClose={close}
          onSave={async (values, key, first) => {
            const changes = changedFields(clearable(first), clearable(values));
            onChange(await api.patch<Webhook>(path, changes, { key }));
            close();
          }}
        />
      )}
      {dialog === "rotate" && (
        <RotateDialog
          onClose={close}
          onConfirm={async (body, options) => {
            const next = await api.post<WebhookWithSecret>(`${path}/rotate-secret`, body, options);
            const { secret: _secret, ...rest } = next;
            onChange(rest);
            close();
            setRotated(next);
          }}
        />
      )}
      {dialog === "delete" && (
        <ActionDialog
          title={t("deleteNamed", { name: webhook.description ?? webhook.url })}
          confirm={t("delete")}
          kind="danger"
          onClose={close}
          onConfirm={async (key) => {
            const leave = goFromHere();
            await api.delete(path, { key });
            toast({ message: t("webhookDeleted") });
            leave(linkTo(["webhooks"]), true);
          }}
        >
          <p>{t("webhookDeleteHint")}</p>
        </ActionDialog>
      )}
      {rotated && (
        <SecretDialog
          title={t("webhookRotated")}
          secret={rotated.secret}
          hint={t("webhookSecretHint")}
          onClose={() => setRotated(undefined)}
        />
      )}
    </>
  );
}

/** The fields of a change, in which null clears the description. */
const clearable = (values: CreateWebhook) => ({
  ...values,
  description: values.description ?? null,
});

interface PathDialogProps {
  readonly path: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function TestDialog({ path, onClose, onDone }: PathDialogProps): JSX.Element {
  const [type, setType] = useState("");
  return (
    <ActionDialog
      title={t("webhookTest")}
      confirm={t("send")}
      onClose={onClose}
      onConfirm={async () => {
        await api.post<DeliveryWithAttempts>(`${path}/test`, type === "" ? {} : { type });
        toast({ message: t("webhookTested") });
        onClose();
        onDone();
      }}
    >
      <p>{t("webhookTestHint")}</p>
      <Select
        label={t("filterType")}
        value={type}
        options={[
          { value: "", label: t("webhookTestFirst") },
          ...eventTypes().map((value) => ({ value, label: value })),
        ]}
        onChange={setType}
      />
    </ActionDialog>
  );
}

const dayMs = 86_400_000;

/** A time as the control for local times has it. */
const localTime = (at: number): string =>
  new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

function RecoverDialog({ path, onClose, onDone }: PathDialogProps): JSX.Element {
  const [since, setSince] = useState(() => localTime(timeNow() - dayMs));
  return (
    <ActionDialog
      title={t("webhookRecover")}
      confirm={t("webhookRecoverButton")}
      canConfirm={since !== ""}
      onClose={onClose}
      onConfirm={async () => {
        await api.post<Webhook>(`${path}/recover`, { since: new Date(since).toISOString() });
        toast({ message: t("webhookRecovering") });
        onClose();
        onDone();
      }}
    >
      {(problemOf) => (
        <>
          <p>{t("webhookRecoverHint")}</p>
          <TextField
            label={t("since")}
            type="datetime-local"
            problem={problemOf("/since")}
            value={since}
            onChange={setSince}
          />
        </>
      )}
    </ActionDialog>
  );
}
