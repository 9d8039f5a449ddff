import { queryOptions } from "@tanstack/react-query";
import type { NewPerson, PersonPatch } from "@weir/contract";
import { useChange } from "../../shared/lib/change.ts";
import { weir } from "../../shared/lib/weir.ts";

const PEOPLE = ["people"];

/** The query reads all people at once: an account has few. */
export const peopleQuery = queryOptions({
  queryKey: PEOPLE,
  queryFn: async ({ signal }) => (await weir.people.list({ limit: 1000, signal })).items,
});

export function useAddPerson() {
  return useChange(PEOPLE, (person: NewPerson) => weir.people.add(person));
}

export function useSetPassword(id: string) {
  return useChange(PEOPLE, (change: PersonPatch) => weir.people.setPassword(id, change));
}

export function useRemovePerson(id: string) {
  return useChange(PEOPLE, (_: undefined) => weir.people.remove(id));
}
