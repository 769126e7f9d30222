import type { ReactNode } from 'react';
import { SettingsHeader } from '@/shared/ui/SettingsHeader';
import { PROJECT_SETTINGS, type ProjectPage } from '@/shared/ui/settingsPages';

interface ProjectHeaderProps {
  tab: ProjectPage;
  subtitle?: ReactNode;
  /** The actions of the page. */
  children?: ReactNode;
}

/** The header of each page of the project settings. */
export const ProjectHeader = (props: ProjectHeaderProps) => (
  <SettingsHeader name="projectSettings" pages={PROJECT_SETTINGS} {...props} />
);
