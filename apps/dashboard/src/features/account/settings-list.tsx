import { Switch, TextInput } from "@mantine/core";
import type { EffectiveSetting } from "@weir/contract";
import { type ReactNode, useState } from "react";
import page from "../../components/page.module.css";
import { strings } from "../../strings.ts";
import classes from "./settings-list.module.css";

const text = strings.account.settings;

/** The settings that somebody changed, then those that have their default. A search narrows both. */
export function SettingsList({ settings }: { readonly settings: readonly EffectiveSetting[] }) {
  const [words, setWords] = useState("");
  const [isChangedOnly, setChangedOnly] = useState(false);
  const wanted = words.trim().toLowerCase();
  const found = settings.filter(({ variable, about }) => `${variable} ${about}`.toLowerCase().includes(wanted));
  const changed = found.filter(({ isDefault }) => !isDefault);
  const unchanged = isChangedOnly ? [] : found.filter(({ isDefault }) => isDefault);
  return (
    <>
      <search className={page.filters}>
        <TextInput
          type="search"
          className={classes.find ?? ""}
          aria-label={text.findSetting}
          placeholder={text.findSetting}
          value={words}
          onChange={(event) => setWords(event.currentTarget.value)}
        />
        <Switch
          label={text.changedOnly}
          checked={isChangedOnly}
          onChange={(event) => setChangedOnly(event.currentTarget.checked)}
        />
      </search>
      {changed.length + unchanged.length === 0 && <p className="quiet">{text.noSetting}</p>}
      <Group name={text.changed(changed.length)} settings={changed} />
      <Group name={text.unchanged(unchanged.length)} settings={unchanged} />
    </>
  );
}

interface GroupProps {
  readonly name: string;
  readonly settings: readonly EffectiveSetting[];
}

function Group({ name, settings }: GroupProps) {
  if (settings.length === 0) return null;
  return (
    <section>
      <h3 className={classes.name}>{name}</h3>
      <dl>
        {settings.map((setting) => (
          <Setting key={setting.variable} setting={setting} />
        ))}
      </dl>
    </section>
  );
}

function Setting({ setting: { variable, about, value, isDefault } }: { readonly setting: EffectiveSetting }) {
  return (
    <div className={classes.setting} data-changed={!isDefault}>
      <dt>
        <code>{variable}</code>
        <p className="quiet">{withCode(about)}</p>
      </dt>
      <dd>
        {value === null ? (
          <span className="quiet">{text.unset}</span>
        ) : value === "[secret]" ? (
          text.secret
        ) : (
          <code>{value}</code>
        )}
      </dd>
    </div>
  );
}

/** The descriptions are written for documents, with backticks around code. */
function withCode(about: string): ReactNode[] {
  return about.split("`").map((part, i) => (i % 2 === 1 ? <code key={part}>{part}</code> : part));
}
