import type { JSX } from "preact";
import type { ApiKey, ApiKeyWithSecret } from "../../../../../src/index.ts";
import {
  ActionDialog,
  api,
  Badge,
  Button,
  dateTime,
  EmptyState,
  Menu,
  timeNow,
  toast,
  useOpened,
} from "../../../shared/browser/index.ts";
import { useReturn } from "../live.ts";
import { usePagedList } from "../paged.ts";
import { RotateDialog, SecretDialog } from "../parts/dialogs.tsx";
import { Card, Paged } from "../parts/layout.tsx";
import { Table } from "../parts/table.tsx";
import { When } from "../parts/values.tsx";
import { t } from "../texts.ts";
import { CreateKeyDialog } from "./create-key-dialog.tsx";

type OpenDialog =
  | { readonly kind: "create" }
  | { readonly kind: "rotate" | "revoke"; readonly key: ApiKey }
  | { readonly kind: "secret"; readonly key: ApiKeyWithSecret };

/** The API keys of the account. */
export function KeysTab(): JSX.Element {
  const [dialog, setDialog, close] = useOpened<OpenDialog>();
  const list = usePagedList<ApiKey>(
    (cursor, signal) => api.get("v1/api-keys", { query: { limit: 50, cursor }, signal }),
    [],
  );
  useReturn(() => void list.refresh());
  return (
    <Card
      title={t("keys")}
      isFlush
      actions={
        <Button kind="primary" icon="plus" onClick={() => setDialog({ kind: "create" })}>
          {t("keyCreate")}
        </Button>
      }
    >
      <Paged list={list} empty={<EmptyState icon="key" title={t("keysNone")} />}>
        {(rows) => <KeyTable rows={rows} onOpen={setDialog} />}
      </Paged>
      {dialog?.kind === "create" && (
        <CreateKeyDialog
          onClose={close}
          onCreated={(key) => {
            const { secret: _secret, ...row } = key;
            list.add(row);
            setDialog({ kind: "secret", key });
          }}
        />
      )}
      {dialog?.kind === "rotate" && (
        <RotateDialog
          onClose={close}
          onConfirm={async (body, options) => {
            const path = `v1/api-keys/${dialog.key.id}/rotate`;
            const key = await api.post<ApiKeyWithSecret>(path, body, options);
            const { secret: _secret, ...row } = key;
            list.change(key.id, row);
            setDialog({ kind: "secret", key });
          }}
        />
      )}
      {dialog?.kind === "revoke" && (
        <ActionDialog
          title={t("keyRevokeTitle", { name: dialog.key.name })}
          confirm={t("keyRevoke")}
          kind="danger"
          onClose={close}
          onConfirm={async (key) => {
            await api.delete(`v1/api-keys/${dialog.key.id}`, { key });
            close();
            toast({ message: t("keyRevoked") });
            await list.reload();
          }}
        >
          <p>{t("keyRevokeHint")}</p>
        </ActionDialog>
      )}
      {dialog?.kind === "secret" && (
        <SecretDialog
          title={dialog.key.name}
          secret={dialog.key.secret}
          hint={t("keySecretHint")}
          onClose={close}
        />
      )}
    </Card>
  );
}

interface KeyTableProps {
  readonly rows: readonly ApiKey[];
  readonly onOpen: (dialog: OpenDialog) => void;
}

function KeyTable({ rows, onOpen }: KeyTableProps): JSX.Element {
  return (
    <Table
      label={t("keys")}
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          label: t("columnName"),
          cell: ({ name, last_four, mode }) => (
            <span class="two-lines">
              <bdi class="truncate strong">{name}</bdi>
              <code class="muted">
                tdg_{mode === "live" ? "live" : "test"}_…{last_four}
              </code>
            </span>
          ),
        },
        { label: t("columnStatus"), cell: (key) => <KeyState of={key} /> },
        {
          label: t("keyScopes"),
          cell: ({ scopes }) => (
            <span class="nowrap" data-tooltip={scopes.join(", ")}>
              {t("scopeCount", { count: scopes.length })}
            </span>
          ),
        },
        {
          label: t("keyUsed"),
          cell: ({ last_used_at }) =>
            last_used_at === null ? (
              <span class="muted">{t("never")}</span>
            ) : (
              <When at={last_used_at} />
            ),
        },
        { label: t("columnCreated"), cell: ({ created_at }) => <When at={created_at} /> },
        {
          label: t("columnActions"),
          isLabelHidden: true,
          isNumeric: true,
          cell: (key) =>
            key.revoked_at === null && (
              <Menu
                label={t("actionsOf", { name: key.name })}
                items={[
                  {
                    label: t("rotateTitle"),
                    icon: "refresh",
                    onPick: () => onOpen({ kind: "rotate", key }),
                  },
                  {
                    label: t("keyRevoke"),
                    icon: "trash",
                    isDanger: true,
                    onPick: () => onOpen({ kind: "revoke", key }),
                  },
                ]}
              />
            ),
        },
      ]}
    />
  );
}

function KeyState({ of }: { readonly of: ApiKey }): JSX.Element {
  const { revoked_at, expires_at, previous_expires_at } = of;
  const now = timeNow();
  if (revoked_at !== null) return <Badge tip={dateTime(revoked_at)}>{t("keyRevokedState")}</Badge>;
  if (expires_at !== null && Date.parse(expires_at) <= now) {
    return (
      <Badge tone="bad" tip={dateTime(expires_at)}>
        {t("keyExpired")}
      </Badge>
    );
  }
  if (previous_expires_at !== null && Date.parse(previous_expires_at) > now) {
    return (
      <Badge tone="warn" tip={t("keyTwoSecrets", { time: dateTime(previous_expires_at) })}>
        {t("keyRotating")}
      </Badge>
    );
  }
  return <Badge tone="good">{t("keyActive")}</Badge>;
}
