import { PageHeader, type PageHeaderProps } from '@/shared/ui/PageHeader';
import { type DatasetTab, DatasetTabs } from './DatasetTabs';

interface DatasetPartHeaderProps extends PageHeaderProps {
  name: string;
  tab: DatasetTab;
}

/** The header of a page that is a part of a dataset's tab: a title of its own, and the tabs. */
export function DatasetPartHeader({ name, tab, ...header }: DatasetPartHeaderProps) {
  return (
    <>
      <PageHeader {...header} />
      <DatasetTabs name={name} current={tab} isPart />
    </>
  );
}
