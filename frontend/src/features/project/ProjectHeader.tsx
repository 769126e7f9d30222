import type { ReactNode } from 'react';
import { RoomHeader } from '@/shared/RoomHeader';
import { PROJECT_SETTINGS, type ProjectRoom } from '@/shared/rooms';

interface ProjectHeaderProps {
  tab: ProjectRoom;
  subtitle?: ReactNode;
  /** The actions of the page. */
  children?: ReactNode;
}

/** The header of each page of the project settings. */
export const ProjectHeader = (props: ProjectHeaderProps) => (
  <RoomHeader name="projectSettings" rooms={PROJECT_SETTINGS} {...props} />
);
