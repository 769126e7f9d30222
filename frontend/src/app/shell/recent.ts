import { useEffect } from 'react';
import { readStored, writeStored } from '@/shared/ui/stored';

/** A page that was looked at, newest first. */
export interface Recent {
  href: string;
  title: string;
}

const STORED = 'atom-recent-pages';
const MOST = 10;
const ENDING = ' · Atom';

export function recentPages(): Recent[] {
  try {
    const kept: unknown = JSON.parse(readStored(STORED) ?? '[]');
    if (!Array.isArray(kept)) return [];
    return kept.filter((one): one is Recent => typeof one?.href === 'string' && typeof one?.title === 'string');
  } catch {
    return [];
  }
}

/** Whoever signs in next need not learn what was looked at. */
export const forgetRecent = () => writeStored(STORED, null);

/** The page behind an address, whatever is chosen on it: its path and its project, both of which name what is shown. */
function pageOf(href: string): string {
  const [path, search] = href.split('?');
  return `${path} ${new URLSearchParams(search).get('project') ?? ''}`;
}

export function rememberPage(href: string, title: string): void {
  const page = pageOf(href);
  const others = recentPages().filter((one) => pageOf(one.href) !== page);
  writeStored(STORED, JSON.stringify([{ href, title }, ...others].slice(0, MOST)));
}

/** Remembers each page once it says what it is called: that is when its heading is there. */
export function useRememberPages(): void {
  useEffect(() => {
    const title = document.querySelector('title');
    if (!title) return;
    const remember = () => {
      const { pathname, search } = window.location;
      if (document.title.endsWith(ENDING)) rememberPage(pathname + search, document.title.slice(0, -ENDING.length));
    };
    const watch = new MutationObserver(remember);
    watch.observe(title, { childList: true, characterData: true, subtree: true });
    return () => watch.disconnect();
  }, []);
}
