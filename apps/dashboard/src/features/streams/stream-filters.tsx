import { NativeSelect } from "@mantine/core";
import page from "../../shared/components/page.module.css";
import { SearchBox } from "../../shared/components/search-box.tsx";
import { strings } from "../../shared/strings.ts";
import classes from "./stream-filters.module.css";
import { CREATED, RECORDS, STATES, type StreamSearch } from "./stream-search.ts";

const text = strings.streams.filters;

interface Props {
  readonly search: StreamSearch;
  /** Called when a filter changes. The empty text removes the filter. */
  readonly onFilter: (name: "name" | "state" | "record" | "created", value: string) => void;
}

/** Search by name, and three filters; each is part of the address. */
export function StreamFilters({ search, onFilter }: Props) {
  return (
    <search className={page.filters}>
      <SearchBox label={strings.streams.search} words={search.name} onWords={(name) => onFilter("name", name)} />
      <Filter texts={text.state} choices={STATES} chosen={search.state} onChoose={(it) => onFilter("state", it)} />
      <Filter texts={text.record} choices={RECORDS} chosen={search.record} onChoose={(it) => onFilter("record", it)} />
      <Filter
        texts={text.created}
        choices={CREATED}
        chosen={search.created}
        onChoose={(it) => onFilter("created", it)}
      />
    </search>
  );
}

interface FilterProps<Choice extends string> {
  readonly texts: Readonly<Record<Choice | "label" | "any", string>>;
  readonly choices: readonly Choice[];
  readonly chosen: Choice | undefined;
  readonly onChoose: (choice: string) => void;
}

function Filter<Choice extends string>({ texts, choices, chosen, onChoose }: FilterProps<Choice>) {
  return (
    <NativeSelect
      className={classes.filter ?? ""}
      aria-label={texts.label}
      data-narrows={chosen !== undefined}
      value={chosen ?? ""}
      onChange={(event) => onChoose(event.currentTarget.value)}
    >
      <option value="">{texts.any}</option>
      {choices.map((choice) => (
        <option key={choice} value={choice}>
          {texts[choice]}
        </option>
      ))}
    </NativeSelect>
  );
}
