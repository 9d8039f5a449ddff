import { Tabs } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { getRouteApi } from "@tanstack/react-router";
import { ApiKeysTab } from "../../features/access/api-keys-tab.tsx";
import { SigningKeysTab } from "../../features/access/signing-keys-tab.tsx";
import page from "../../shared/components/page.module.css";
import { strings } from "../../shared/strings.ts";
import classes from "./access-page.module.css";

const text = strings.access;
const route = getRouteApi("/app/keys");

/** The keys of the project: those that programs call the API with, and those that viewers' tokens are signed with. */
export function AccessPage() {
  const { tab = "api", cursor } = route.useSearch();
  const navigate = route.useNavigate();
  useDocumentTitle(`${text.tabs[tab]} · ${strings.app.name}`);
  const show = (wanted: "api" | "signing", next?: string): void => {
    navigate({ search: { ...(wanted === "signing" && { tab: wanted }), ...(next !== undefined && { cursor: next }) } });
  };
  return (
    <div className={page.page}>
      <h1>{text.title}</h1>
      <Tabs value={tab} keepMounted={false} onChange={(value) => show(value === "signing" ? "signing" : "api")}>
        <Tabs.List>
          <Tabs.Tab value="api">{text.tabs.api}</Tabs.Tab>
          <Tabs.Tab value="signing">{text.tabs.signing}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="api" className={classes.tab ?? ""}>
          <ApiKeysTab cursor={cursor} onCursor={(next) => show("api", next)} />
        </Tabs.Panel>
        <Tabs.Panel value="signing" className={classes.tab ?? ""}>
          <SigningKeysTab />
        </Tabs.Panel>
      </Tabs>
    </div>
  );
}
