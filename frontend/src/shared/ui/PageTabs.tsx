import { Link, type LinkProps } from '@tanstack/react-router';
import classes from './PageTabs.module.css';

export interface PageTab {
  key: string;
  label: string;
  link: Pick<LinkProps, 'to' | 'params'>;
}

interface PageTabsProps {
  /** Names the bar for screen readers. */
  label: string;
  tabs: readonly PageTab[];
  /** The key of the tab that is open. */
  current: string;
  /** The page shown is a part of the open tab, not the tab's own page. */
  isPart?: boolean;
}

/** Pages that belong together, under their header; each is a link, so the address says which one is open. */
export function PageTabs({ label, tabs, current, isPart = false }: PageTabsProps) {
  return (
    <nav aria-label={label} className={classes.tabs} data-no-print>
      {tabs.map((tab) => (
        <Link
          key={tab.key}
          {...tab.link}
          className={classes.tab}
          // The router marks a link whose address begins the page's: the first would be open on every page.
          activeOptions={{ exact: true, includeSearch: false }}
          aria-current={tab.key === current ? (isPart ? 'true' : 'page') : undefined}
        >
          {tab.label}
        </Link>
      ))}
    </nav>
  );
}
