import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useRights } from '../domain/project';
import { PageHeader } from './PageHeader';
import { PageTabs } from './PageTabs';
import { allowedPages, type SettingsPage } from './settingsPages';

interface SettingsHeaderProps {
  /** The word in `nav` for all tabs together. */
  name: 'projectSettings' | 'administration';
  pages: readonly SettingsPage[];
  tab: SettingsPage['key'];
  subtitle?: ReactNode;
  /** The actions of the page. */
  children?: ReactNode;
}

/** The header of a page that is one tab of several: the name of all, and the tabs that the person may open. */
export function SettingsHeader({ name, pages, tab, subtitle, children }: SettingsHeaderProps) {
  const { t } = useTranslation();
  const title = t(`nav.${name}`);
  const tabs = allowedPages(pages, useRights()).map(({ key, to }) => ({ key, label: t(`nav.${key}`), link: { to } }));
  return (
    <>
      <PageHeader title={title} documentTitle={[t(`nav.${tab}`), title].join(' · ')} subtitle={subtitle}>
        {children}
      </PageHeader>
      {tabs.length > 0 && <PageTabs label={t('nav.pagesOf', { name: title })} tabs={tabs} current={tab} />}
    </>
  );
}
