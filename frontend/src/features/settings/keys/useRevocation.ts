import { useState } from 'react';
import { confirmUndo, notifySuccess } from '@/shared/undo';

interface Revocation {
  send: (id: string) => Promise<unknown>;
  refresh: () => Promise<unknown>;
  words: (name: string) => { revoking: string; done: string };
}

/** What is revoked disappears at once, and comes back if the person undoes it or the server refuses. */
export function useRevocation<Row extends { id: string; name: string }>({ send, refresh, words }: Revocation) {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const revoke = ({ id, name }: Row) => {
    const { revoking, done } = words(name);
    setHidden((old) => new Set(old).add(id));
    confirmUndo({
      message: revoking,
      commit: async () => {
        await send(id);
        notifySuccess(done);
        await refresh();
      },
      rollback: () => setHidden((old) => new Set([...old].filter((other) => other !== id))),
    });
  };
  return { hidden, revoke };
}
