import type { JSX } from "preact";
import type { Contact } from "../../../../../src/index.ts";
import { Badge, ConsentBadge, date, Icon, shownAddress } from "../../../shared/browser/index.ts";
import { contacts } from "../state/contacts.ts";
import { labelsOf } from "../state/label-changes.ts";
import { t } from "../texts.ts";
import { contactName, mediumIcon, mediumName } from "../words.ts";
import { ListRow } from "./list-row.tsx";

interface ContactRowProps {
  readonly id: string;
  readonly tabIndex: 0 | -1;
  readonly isActive: boolean;
}

/** A contact in the list: a link to it. */
export function ContactRow(props: ContactRowProps): JSX.Element | null {
  const { id, tabIndex, isActive } = props;
  const row = contacts.row(id);
  if (row === undefined) return null;
  const { created_at: since } = row;
  return (
    <ListRow
      class="is-contact"
      path={["contacts", id]}
      name={contactName(row)}
      contactId={id}
      at={since}
      tip={t("contactSince", { time: date(since) })}
      {...{ isActive, tabIndex }}
    >
      <span class="row-line">
        <Addresses of={row} />
        <Facts of={row} />
      </span>
    </ListRow>
  );
}

interface OfContact {
  readonly of: Contact;
}

/** How the contact can be reached: its mediums, and the addresses that do not stand as its name. */
function Addresses({ of: contact }: OfContact): JSX.Element {
  const { phone, email, identities } = contact;
  const mediums = [...new Set(identities.map(({ medium }) => medium))];
  const numbers = identities.flatMap(({ medium, address }) => (medium === "text" ? [address] : []));
  const name = contactName(contact);
  const addresses = [...new Set([phone, email, ...numbers])].flatMap((each) => {
    const shown = shownAddress(each ?? "");
    return shown === "" || shown === name ? [] : [shown];
  });
  const kinds = [...mediums.map(mediumName), ...(email === null ? [] : [t("contactEmail")])];
  const instead = kinds.join(", ") || t("rowNoAddress");
  return (
    <span class="row-preview grow">
      {mediums.map((medium) => (
        <span key={medium} class="row-channel" data-tooltip={mediumName(medium)}>
          <Icon name={mediumIcon(medium)} />
        </span>
      ))}
      <bdi class="truncate grow">{addresses.join(" · ") || instead}</bdi>
    </span>
  );
}

/** What a person must know before opening the contact, in at most three badges. */
function Facts({ of }: OfContact): JSX.Element {
  const labels = labelsOf(of);
  const [first, ...others] = labels;
  return (
    <span class="row-badges">
      {of.opted_out && <ConsentBadge status="opted_out" />}
      {first !== undefined && <Badge tip={first}>{first}</Badge>}
      {others.length > 0 && <Badge tip={labels.join(", ")}>+{others.length}</Badge>}
    </span>
  );
}
