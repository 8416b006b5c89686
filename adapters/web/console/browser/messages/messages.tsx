import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { Message, Page } from "../../../../../src/index.ts";
import {
  api,
  Button,
  channelName,
  dayAndTime,
  EmptyState,
  firstCharacters,
  go,
  Icon,
  linkTo,
  place,
  Resource,
} from "../../../shared/browser/index.ts";
import { isErased, readContacts } from "../contacts.ts";
import { useCoalesced, useLive } from "../live.ts";
import { usePagedList } from "../paged.ts";
import { Card, Paged, PageView } from "../parts/layout.tsx";
import { Table } from "../parts/table.tsx";
import { ContactCell, StatusBadge, When } from "../parts/values.tsx";
import { t } from "../texts.ts";
import { filtersOf, MessageFilters } from "./message-filters.tsx";
import { MessagePage } from "./message.tsx";

const pageSize = 50;
/** The maximum page size of the API. More new messages are not counted. */
const maxFresh = 100;
const refreshDelayMs = 300;

/** The messages of the account, or one of them. */
export function MessagesPage(): JSX.Element {
  const [, id] = place.value.path;
  return id === undefined ? <MessageList /> : <MessagePage key={id} id={id} />;
}

function MessageList(): JSX.Element {
  const filters = filtersOf(place.value.query);
  const query = JSON.stringify(filters);
  const list = usePagedList<Message>(
    async (cursor, signal) => {
      const [page] = await Promise.all([
        api.get<Page<Message>>("v1/messages", {
          query: { ...filters, limit: pageSize, cursor },
          signal,
        }),
        cursor === undefined && readContacts(signal, filters.contact_id),
      ]);
      return page;
    },
    [query],
  );
  // The ids of the latest messages that the filters have. Those that came after the list was read
  // wait, so that no row moves below a pointer.
  const latest = useMemo(
    () =>
      new Resource<readonly string[]>(async (signal) => {
        const asked = { ...filters, limit: maxFresh };
        const { data } = await api.get<Page<Message>>("v1/messages", { query: asked, signal });
        return data.map(({ id }) => id);
      }),
    [query],
  );
  const newest = list.state.value.rows?.[0]?.id ?? "";
  const look = useCoalesced(() => latest.reload(), refreshDelayMs);
  const reload = (): void => {
    latest.set([]);
    void list.reload();
  };
  useEffect(() => () => latest.stop(), [latest]);
  useLive({
    onEvent: (event) => {
      const { type } = event;
      const isOfMessage =
        type === "message.received" || type === "message.updated" || type === "message.redacted";
      if (!isOfMessage) return;
      const { message_id } = event.data;
      if (event.type === "message.redacted") list.change(message_id, { body: null, media: [] });
      if (event.type === "message.updated") {
        const { status, error } = event.data;
        list.change(message_id, { status, error });
      }
      if (type !== "message.redacted" && message_id > newest) look();
    },
    onGap: reload,
  });
  const freshCount = latest.data?.filter((id) => id > newest).length ?? 0;
  const hasFilters = query !== "{}";
  return (
    <PageView
      title={t("messages")}
      about={t("messagesAbout")}
      actions={
        <Button icon="refresh" kind={freshCount > 0 ? "primary" : "secondary"} onClick={reload}>
          {freshCount === 0
            ? t("reload")
            : t(freshCount < maxFresh ? "messagesFresh" : "messagesManyFresh", {
                count: freshCount,
              })}
        </Button>
      }
    >
      <Card isFlush>
        <MessageFilters filters={filters} />
        <Paged
          list={list}
          isHidden={({ contact_id }) => isErased(contact_id)}
          empty={
            <EmptyState
              icon="chat"
              title={t(hasFilters ? "messagesNoneMatch" : "messagesNone")}
              actions={
                hasFilters && (
                  <Button onClick={() => go(linkTo(["messages"]))}>{t("filtersClear")}</Button>
                )
              }
            >
              {hasFilters ? undefined : t("messagesNoneHint")}
            </EmptyState>
          }
        >
          {(rows) => <MessageTable rows={rows} />}
        </Paged>
      </Card>
    </PageView>
  );
}

function MessageTable({ rows }: { readonly rows: readonly Message[] }): JSX.Element {
  return (
    <Table
      label={t("messages")}
      rows={rows}
      keyOf={({ id }) => id}
      linkOf={({ id }) => linkTo(["messages", id])}
      columns={[
        {
          label: t("columnText"),
          cell: ({ body, media, direction }) => (
            <span class="message-cell">
              <span class="direction" data-tooltip={t(direction)}>
                <Icon name={direction === "inbound" ? "arrow-in" : "arrow-out"} />
                <span class="visually-hidden">{t(direction)}: </span>
              </span>
              <span class="message-body truncate" dir="auto">
                {previewOf(body, media.length)}
              </span>
            </span>
          ),
        },
        {
          label: t("columnStatus"),
          cell: ({ status, send_at }) => (
            <>
              <StatusBadge of={status} />
              {status === "scheduled" && send_at !== null && (
                <>
                  <br />
                  <time class="nowrap muted" dateTime={send_at}>
                    {dayAndTime(send_at)}
                  </time>
                </>
              )}
            </>
          ),
        },
        {
          label: t("columnContact"),
          cell: ({ direction, from, to, conversation_id }) => (
            <ContactCell
              conversationId={conversation_id}
              address={direction === "inbound" ? from : to}
            />
          ),
        },
        {
          label: t("columnChannel"),
          cell: ({ channel }) => <span class="nowrap">{channelName(channel)}</span>,
        },
        {
          label: t("columnCreated"),
          isNumeric: true,
          cell: ({ created_at }) => <When at={created_at} />,
        },
      ]}
    />
  );
}

const maxPreview = 200;

function previewOf(body: string | null, files: number): JSX.Element | string {
  if (body === null) return <em class="muted">{t("redacted")}</em>;
  if (body === "") return <em class="muted">{t("filesOnly", { count: files })}</em>;
  return firstCharacters(body, maxPreview);
}
