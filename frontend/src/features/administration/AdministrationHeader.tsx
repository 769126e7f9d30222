import type { ReactNode } from 'react';
import { RoomHeader } from '@/shared/RoomHeader';
import { ADMINISTRATION, type AdministrationRoom } from '@/shared/rooms';

interface AdministrationHeaderProps {
  tab: AdministrationRoom;
  subtitle?: ReactNode;
  /** The actions of the page. */
  children?: ReactNode;
}

/** The header of each page of the administration. */
export const AdministrationHeader = (props: AdministrationHeaderProps) => (
  <RoomHeader name="administration" rooms={ADMINISTRATION} {...props} />
);
