import { useTranslation } from 'react-i18next';
import { AnchorLink } from '@/shared/links';
import classes from './DatasetTabs.module.css';

const TABS = {
  files: '/datasets/$name',
  versions: '/datasets/$name/versions',
  branches: '/datasets/$name/refs',
  activity: '/datasets/$name/activity',
  settings: '/datasets/$name/keeping',
} as const;

export type DatasetTab = keyof typeof TABS;

interface DatasetTabsProps {
  name: string;
  current: DatasetTab;
}

/** The pages of a dataset, under its header; each is a link, so the address says which one is open. */
export function DatasetTabs({ name, current }: DatasetTabsProps) {
  const { t } = useTranslation();
  return (
    <nav aria-label={t('datasets.tabs.label', { name })} className={classes.tabs}>
      {Object.entries(TABS).map(([tab, to]) => (
        <AnchorLink
          key={tab}
          to={to}
          params={{ name }}
          className={classes.tab}
          underline="never"
          // The router marks a link whose address begins the page's: files would be open on every page.
          activeOptions={{ exact: true, includeSearch: false }}
          aria-current={tab === current ? 'page' : undefined}
        >
          {t(`datasets.tabs.${tab as DatasetTab}`)}
        </AnchorLink>
      ))}
    </nav>
  );
}
