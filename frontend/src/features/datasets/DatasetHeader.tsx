import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { PageHeader } from '@/shared/ui/PageHeader';
import { type DatasetTab, DatasetTabs } from './DatasetTabs';
import { ToDatasets } from './ToDatasets';

interface DatasetHeaderProps {
  name: string;
  tab: DatasetTab;
  subtitle?: ReactNode;
  /** The actions of the page. */
  children?: ReactNode;
}

/** The header of a dataset's pages: the name, and the tabs. */
export function DatasetHeader({ name, tab, subtitle, children }: DatasetHeaderProps) {
  const { t } = useTranslation();
  return (
    <>
      <PageHeader
        title={name}
        documentTitle={tab === 'files' ? name : [name, t(`datasets.tabs.${tab}`)].join(' · ')}
        above={<ToDatasets />}
        subtitle={subtitle}
      >
        {children}
      </PageHeader>
      <DatasetTabs name={name} current={tab} />
    </>
  );
}
