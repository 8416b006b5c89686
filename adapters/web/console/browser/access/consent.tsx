import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Contact } from "../../../../../src/index.ts";
import {
  api,
  ConsentBadge,
  EmptyState,
  go,
  Icon,
  isVisible,
  linkTo,
  LoadState,
  place,
  placeNow,
  Resource,
  shownAddress,
} from "../../../shared/browser/index.ts";
import { useCoalesced, useLive } from "../live.ts";
import { Card } from "../parts/layout.tsx";
import { SearchField } from "../parts/search-field.tsx";
import { t } from "../texts.ts";
import { ConsentsOf } from "./consents-of.tsx";

/** The search begins when the person has typed nothing for this time. */
const typingPauseMs = 250;
const refreshDelayMs = 200;

/** Finds a contact, and shows what each of its addresses allows, with the evidence. */
export function ConsentTab(): JSX.Element {
  const [, , openId] = place.value.path;
  const [search, setSearch] = useState("");
  const found = useMemo(
    () =>
      new Resource<readonly Contact[]>(async (signal) => {
        const q = search.trim();
        const path = q === "" ? "v1/contacts" : "v1/contacts/search";
        const page = await api.get<{ data: Contact[] }>(path, {
          query: { limit: 20, ...(q === "" ? { opted_out: true } : { q }) },
          signal,
        });
        return page.data;
      }),
    [search],
  );
  useEffect(() => {
    const timer = setTimeout(() => void found.reload(), search === "" ? 0 : typingPauseMs);
    return () => {
      clearTimeout(timer);
      found.stop();
    };
  }, [found]);
  const refresh = useCoalesced(() => found.reload(), refreshDelayMs);
  const isListed = (contactId: string): boolean =>
    found.state.peek().data?.some(({ id }) => id === contactId) === true;
  useLive({
    onEvent: ({ type, data }) => {
      if (type === "contact.erased") {
        if (isListed(data.contact_id)) void found.reload();
        if (placeNow().path[2] === data.contact_id) go(linkTo(["access", "consent"]), true);
      } else if (type === "contact.opted_out" || type === "contact.opted_in") {
        // Without a search, the list has those who have opted out.
        if (search.trim() === "" || isListed(data.contact.id)) refresh();
      }
    },
    onGap: () => void found.reload(),
  });
  const { data } = found;
  return (
    <div class="consent">
      <Card title={t("consentFind")}>
        <SearchField
          label={t("consentSearch")}
          placeholder={t("consentSearchHint")}
          value={search}
          onChange={setSearch}
        />
        <h3 class="muted">{t(search.trim() === "" ? "consentOptedOut" : "consentFound")}</h3>
        <LoadState of={found} />
        {data?.length === 0 && <p class="muted">{t("consentNobody")}</p>}
        <ul class="rows">
          {data?.map(({ id, name, phone, email, opted_out }) => (
            <li key={id}>
              <a
                class="row"
                href={linkTo(["access", "consent", id])}
                aria-current={id === openId ? "true" : undefined}
              >
                <span class="two-lines grow">
                  <bdi class="truncate strong">
                    {isVisible(name) ? name : shownAddress(phone ?? email ?? id)}
                  </bdi>
                  {isVisible(name) && (
                    <bdi class="truncate muted">{shownAddress(phone ?? email ?? id)}</bdi>
                  )}
                </span>
                {opted_out && <ConsentBadge status="opted_out" />}
                <Icon name="chevron-right" />
              </a>
            </li>
          ))}
        </ul>
      </Card>
      {openId === undefined ? (
        <Card>
          <EmptyState icon="flag" title={t("consentNone")}>
            {t("consentNoneHint")}
          </EmptyState>
        </Card>
      ) : (
        <ConsentsOf key={openId} id={openId} onChanged={refresh} />
      )}
    </div>
  );
}
