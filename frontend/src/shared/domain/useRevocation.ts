import { useState } from 'react';
import { confirmUndo, notifySuccess } from '../ui/undo';

interface Revocation {
  send: (id: string) => Promise<unknown>;
  refresh: () => Promise<unknown>;
  words: (name: string) => { revoking: string; done: string };
  /** Where another of the same name may be made meanwhile: see `confirmUndo`. */
  about?: (id: string) => string;
}

/** A revoked key disappears at once, and comes back if the person undoes it or the server refuses. */
export function useRevocation<Row extends { id: string; name: string }>({ send, refresh, words, about }: Revocation) {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const revoke = ({ id, name }: Row) => {
    const { revoking, done } = words(name);
    const show = () => setHidden((old) => new Set([...old].filter((other) => other !== id)));
    setHidden((old) => new Set(old).add(id));
    confirmUndo({
      message: revoking,
      about: about?.(id),
      commit: async () => {
        await send(id);
        notifySuccess(done);
        await refresh();
        // Whoever makes another of that name is to see it.
        show();
      },
      rollback: show,
    });
  };
  return { hidden, revoke };
}
