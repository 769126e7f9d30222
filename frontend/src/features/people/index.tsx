import './words';

export { AccountPage } from './account/AccountPage';
export { PeoplePage } from './installation/PeoplePage';
export { ProjectMembersPage } from './members/ProjectMembersPage';
export { UnitPage } from './units/UnitPage';
export { UnitsPage } from './units/UnitsPage';
