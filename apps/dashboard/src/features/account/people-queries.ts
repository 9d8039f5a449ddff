import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import type { NewPerson, PersonPatch } from "@weir/contract";
import { weir } from "../../lib/weir.ts";

const PEOPLE = ["people"];

/** All of them: an account has few. */
export const peopleQuery = queryOptions({
  queryKey: PEOPLE,
  queryFn: async ({ signal }) => (await weir.people.list({ limit: 1000, signal })).items,
});

function useChange<Wanted, Answer>(change: (wanted: Wanted) => Promise<Answer>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    // A password is not kept longer than the dialog that asks for it.
    gcTime: 0,
    onSettled: () => queries.invalidateQueries({ queryKey: PEOPLE }),
  });
}

export function useAddPerson() {
  return useChange((person: NewPerson) => weir.people.add(person));
}

export function useSetPassword(id: string) {
  return useChange((change: PersonPatch) => weir.people.setPassword(id, change));
}

export function useRemovePerson(id: string) {
  return useChange((_: undefined) => weir.people.remove(id));
}
