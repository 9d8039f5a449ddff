// @vitest-environment happy-dom
import { expect, it, vi } from "vitest";
import { answerWith, button, fill, press, render, shown, untilShown } from "../../shared/testing/render.tsx";
import { PasswordDialog } from "./password-dialog.tsx";

const ann = { id: "p1", userId: "u1", name: "ann", createdAt: 0 };

it("a person's own password needs the current one, and says which of the two is wrong", async () => {
  let status = 403;
  const asked = answerWith(() =>
    status === 204 ? new Response(null, { status }) : Response.json({ errors: ["The database is away."] }, { status }),
  );
  const onClose = vi.fn();
  await render(<PasswordDialog person={ann} isSelf onClose={onClose} />);
  await fill("New password", "long enough");
  expect(button("Save").disabled).toBe(true);
  await fill("Current password", "guessed");
  await press("Save");
  await untilShown("Current password is incorrect.");
  expect(shown()).not.toContain("The database is away.");
  status = 500;
  await press("Save");
  await untilShown("The database is away.");
  expect(shown()).not.toContain("Current password is incorrect.");
  expect(onClose).not.toHaveBeenCalled();
  status = 204;
  await press("Save");
  await vi.waitUntil(() => onClose.mock.calls.length > 0, { timeout: 10_000 });
  expect(asked).toHaveBeenCalledWith("/api/person/p1", "PATCH", {
    password: "long enough",
    currentPassword: "guessed",
  });
});

it("another person's password is set without theirs, once it is long enough", async () => {
  const asked = answerWith(() => new Response(null, { status: 204 }));
  const onClose = vi.fn();
  await render(<PasswordDialog person={ann} isSelf={false} onClose={onClose} />);
  expect(shown()).not.toContain("Current password");
  await fill("New password", "too short");
  expect(button("Save").disabled).toBe(true);
  await fill("New password", "long enough");
  await press("Save");
  await vi.waitUntil(() => onClose.mock.calls.length > 0, { timeout: 10_000 });
  expect(asked).toHaveBeenCalledWith("/api/person/p1", "PATCH", { password: "long enough" });
});
