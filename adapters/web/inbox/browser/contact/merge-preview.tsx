import type { ComponentChildren, JSX } from "preact";
import type {
  Consents,
  Contact,
  Conversation,
  Page,
  MergePreview as Preview,
} from "../../../../../src/index.ts";
import {
  api,
  ConsentBadge,
  LoadState,
  number,
  shownAddress,
  type Resource,
} from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";
import { contactName, mediumName, nameIn } from "../words.ts";
import { useContactResource } from "./section.tsx";

const maxCounted = 100;

/** What is shown of each of the two contacts besides its fields. */
interface Side {
  readonly consents: Consents["data"];
  readonly conversations: Count;
}

interface Count {
  readonly count: number;
  /** Whether there are more than were counted. */
  readonly isMore: boolean;
}

interface WithSides extends Preview {
  readonly own: Side;
  readonly others: Side;
}

/** Reads what the merge of two contacts would do. */
export const useMergePreview = (contact: Contact, other: Contact): Resource<WithSides> =>
  useContactResource(other.id, async (signal) => {
    const path = `v1/contacts/${contact.id}/merge-preview`;
    const [preview, own, others] = await Promise.all([
      api.get<Preview>(path, { query: { contact_id: other.id }, signal }),
      sideOf(contact.id, signal),
      sideOf(other.id, signal),
    ]);
    return { ...preview, own, others };
  });

async function sideOf(id: string, signal: AbortSignal): Promise<Side> {
  const [consents, conversations] = await Promise.all([
    api.get<Consents>(`v1/contacts/${id}/consents`, { signal }),
    api.get<Page<Conversation>>(`v1/contacts/${id}/conversations`, {
      query: { limit: maxCounted },
      signal,
    }),
  ]);
  const { data, has_more: isMore } = conversations;
  return { consents: consents.data, conversations: { count: data.length, isMore } };
}

interface MergePreviewProps {
  readonly contact: Contact;
  readonly other: Contact;
  readonly preview: Resource<WithSides>;
}

/** Both contacts and the result, side by side. What is not kept is struck through. */
export function MergePreview({ contact, other, preview }: MergePreviewProps): JSX.Element {
  const { data } = preview;
  if (data === undefined) return <LoadState of={preview} rows={5} />;
  const { own, others } = data;
  const count = own.conversations.count + others.conversations.count;
  const isMore = own.conversations.isMore || others.conversations.isMore;
  return (
    // The dialog may scroll, so keys must reach something in it.
    <div class="merge-preview" role="region" aria-label={t("mergeAfter")} tabIndex={0}>
      <table class="merge">
        <thead>
          <tr>
            <td />
            <th scope="col">{t("mergeKeeps")}</th>
            <th scope="col">{t("mergeMoves")}</th>
            <th scope="col">{t("mergeAfter")}</th>
          </tr>
        </thead>
        <tbody>
          {factsOf(contact, other, data.contact).map((fact) => (
            <Fact key={fact.key} fact={fact} />
          ))}
          <Row
            name={t("consent")}
            cells={[own.consents, others.consents, [...own.consents, ...others.consents]].map(
              (each, at) => (
                <Addresses key={at} consents={each} />
              ),
            )}
          />
          <Row
            name={t("conversations")}
            cells={[
              countText(own.conversations),
              countText(others.conversations),
              countText({ count, isMore }),
            ]}
          />
        </tbody>
      </table>
      {data.closes.map((closed) => (
        <p key={closed.id}>
          {t("mergeCloses", { medium: mediumName(closed.medium), name: nameIn(closed) })}
        </p>
      ))}
      <p>{t("mergePreview", { name: contactName(contact), other: contactName(other) })}</p>
    </div>
  );
}

const countText = ({ count, isMore }: Count): string =>
  isMore ? t("many", { count }) : number(count);

interface RowProps {
  readonly name: string;
  readonly cells: readonly ComponentChildren[];
}

function Row({ name, cells }: RowProps): JSX.Element {
  return (
    <tr>
      <th scope="row">
        <bdi>{name}</bdi>
      </th>
      {cells.map((each, at) => (
        <td key={at}>{each}</td>
      ))}
    </tr>
  );
}

function Addresses({ consents }: { readonly consents: Consents["data"] }): JSX.Element {
  return (
    <ul>
      {consents.map(({ medium, address, status }) => (
        <li key={`${medium} ${address}`}>
          <bdi>{medium === "text" ? shownAddress(address) : mediumName(medium)}</bdi>{" "}
          <ConsentBadge status={status} />
        </li>
      ))}
    </ul>
  );
}

/** A field or an attribute of the two contacts and of the result. Empty if it is unknown. */
interface MergedFact {
  readonly key: string;
  readonly name: string;
  readonly own: string;
  readonly others: string;
  readonly after: string;
}

function factsOf(contact: Contact, other: Contact, after: Contact): readonly MergedFact[] {
  const of = (
    key: string,
    name: string,
    read: (each: Contact) => string | null | undefined,
  ): MergedFact => ({
    key,
    name,
    own: read(contact) ?? "",
    others: read(other) ?? "",
    after: read(after) ?? "",
  });
  const attributes = [contact, other].flatMap((each) => Object.keys(each.attributes));
  return [
    of("name", t("contactName"), ({ name }) => name),
    of("phone", t("contactPhone"), ({ phone }) => phone && shownAddress(phone)),
    of("email", t("contactEmail"), ({ email }) => email),
    of("language", t("contactLanguage"), ({ language }) => language),
    of("time_zone", t("contactTimeZone"), ({ time_zone }) => time_zone),
    of("labels", t("labels"), ({ labels }) => labels.join(", ")),
    ...[...new Set(attributes)].map((key) =>
      of(`attribute ${key}`, key, (each) => each.attributes[key]),
    ),
  ].filter(({ own, others }) => own !== "" || others !== "");
}

function Fact({ fact }: { readonly fact: MergedFact }): JSX.Element {
  const { key, name, own, others, after } = fact;
  // All labels and addresses of both are kept, as far as there is room.
  const isLost = others !== "" && others !== after && key !== "labels" && key !== "phone";
  const lost = (
    <>
      <s>
        <bdi>{others}</bdi>
      </s>{" "}
      <span class="visually-hidden">{t("mergeLost")}</span>
    </>
  );
  return (
    <Row
      name={name}
      cells={[<bdi>{own}</bdi>, isLost ? lost : <bdi>{others}</bdi>, <bdi>{after}</bdi>]}
    />
  );
}
