import type { ReactNode } from 'react';
import { SettingsHeader } from '@/shared/ui/SettingsHeader';
import { ADMINISTRATION, type AdministrationPage } from '@/shared/ui/settingsPages';

interface AdministrationHeaderProps {
  tab: AdministrationPage;
  subtitle?: ReactNode;
  /** The actions of the page. */
  children?: ReactNode;
}

/** The header of each page of the administration. */
export const AdministrationHeader = (props: AdministrationHeaderProps) => (
  <SettingsHeader name="administration" pages={ADMINISTRATION} {...props} />
);
