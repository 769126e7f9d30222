import { useTranslation } from 'react-i18next';
import { PageTabs } from '@/shared/ui/PageTabs';

const TABS = {
  files: '/datasets/$name',
  versions: '/datasets/$name/versions',
  branches: '/datasets/$name/refs',
  activity: '/datasets/$name/activity',
  settings: '/datasets/$name/keeping',
} as const;

export type DatasetTab = keyof typeof TABS;
const KEYS = Object.keys(TABS) as DatasetTab[];

interface DatasetTabsProps {
  name: string;
  current: DatasetTab;
  /** The page shown is a part of the open tab, not the tab's own page. */
  isPart?: boolean;
}

/** The pages of a dataset, under its header. */
export function DatasetTabs({ name, current, isPart }: DatasetTabsProps) {
  const { t } = useTranslation();
  const tabs = KEYS.map((key) => ({
    key,
    label: t(`datasets.tabs.${key}`),
    link: { to: TABS[key], params: { name } },
  }));
  return <PageTabs label={t('datasets.tabs.label', { name })} tabs={tabs} current={current} isPart={isPart} />;
}
