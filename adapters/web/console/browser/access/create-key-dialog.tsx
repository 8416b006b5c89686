import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { ApiKeyWithSecret, KeyScope } from "../../../../../src/index.ts";
import {
  ActionDialog,
  api,
  Checkbox,
  currentSession,
  newKey,
  Select,
  TextField,
  timeNow,
} from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";

interface CreateKeyDialogProps {
  readonly onCreated: (key: ApiKeyWithSecret) => void;
  readonly onClose: () => void;
}

const dayMs = 86_400_000;

/** Creates an API key. */
export function CreateKeyDialog({ onCreated, onClose }: CreateKeyDialogProps): JSX.Element {
  /** A person can only give the scopes that they have. */
  const grantable = currentSession.value?.may ?? [];
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<ReadonlySet<KeyScope>>(new Set(grantable));
  const [days, setDays] = useState("");
  const values = { name, scopes: grantable.filter((scope) => scopes.has(scope)), days };
  // The same values have the same idempotency key and time, so a repetition creates one API key.
  const once = useMemo(
    () => ({
      key: newKey(),
      expires_at: days === "" ? null : new Date(timeNow() + Number(days) * dayMs).toISOString(),
    }),
    [JSON.stringify(values)],
  );
  const toggle = (scope: KeyScope): void => {
    const next = new Set(scopes);
    if (!next.delete(scope)) next.add(scope);
    setScopes(next);
  };
  return (
    <ActionDialog
      title={t("keyCreate")}
      confirm={t("keyCreate")}
      canConfirm={name.trim() !== "" && scopes.size > 0}
      onClose={onClose}
      onConfirm={async () => {
        const { key, expires_at } = once;
        const body = { name, scopes: values.scopes, expires_at };
        onCreated(await api.post<ApiKeyWithSecret>("v1/api-keys", body, { key }));
      }}
    >
      {(problemOf) => (
        <>
          <TextField
            label={t("columnName")}
            placeholder={t("keyNameHint")}
            problem={problemOf("/name")}
            value={name}
            onChange={setName}
          />
          <Select
            label={t("keyExpires")}
            value={days}
            options={[
              { value: "", label: t("never") },
              ...[30, 90, 365].map((count) => ({
                value: String(count),
                label: t("inDays", { count }),
              })),
            ]}
            onChange={setDays}
          />
          <fieldset class="choice-grid">
            <legend class="field-label">{t("keyScopes")}</legend>
            <span class="choice-grid-row">
              <Checkbox
                label={t("keyAllScopes")}
                checked={scopes.size === grantable.length}
                indeterminate={scopes.size > 0 && scopes.size < grantable.length}
                onChange={(isChecked) => setScopes(new Set(isChecked ? grantable : []))}
              />
            </span>
            {grantable.map((scope) => (
              <Checkbox
                key={scope}
                label={<code>{scope}</code>}
                checked={scopes.has(scope)}
                onChange={() => toggle(scope)}
              />
            ))}
          </fieldset>
        </>
      )}
    </ActionDialog>
  );
}
