/** How long a free path is kept for a person who has asked for it. In a file of its own: commands load no database. */
export const pathKeptMinutes = 10;
