//! What both databases promise, and what happens to each of them when something breaks.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod archives;
mod board;
mod builder;
mod deployments;
mod kept;
mod leases;
mod log;
mod place;
mod postgres_faults;
mod questions;
mod rivals;
mod sqlite_faults;
mod tamper;
mod upgrade;

use place::Place;

/// Runs a check against SQLite, and against PostgreSQL where there is one.
macro_rules! on_both {
    ($($name:ident => $check:path;)*) => {
        mod sqlite {
            use super::*;
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                $check(Place::sqlite()).await;
            })*
        }

        mod postgres {
            use super::*;
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                if let Some(place) = Place::postgres(stringify!($name)).await {
                    $check(place).await;
                }
            })*
        }
    };
}

on_both! {
    what_was_appended_is_read_back_in_pages => log::read_back;
    an_append_is_refused_for_a_reason_and_leaves_nothing => log::refusals;
    projects_do_not_see_each_other => log::projects;
    people_can_read_the_log_in_sql => log::for_people;
    a_store_that_is_opened_again_has_everything => log::reopened;
    an_old_owner_finds_out => rivals::fenced;
    two_writers_that_race_leave_no_gap => rivals::race;
    a_reader_that_follows_sees_every_position_once => rivals::follow;
    the_latest_is_the_highest_revision_at_any_time => questions::latest;
    a_rollback_changes_what_is_there_now => questions::now_at;
    what_is_in_progress_comes_in_pages_and_reopens => questions::in_progress;
    a_list_shows_what_its_filter_lets_through => questions::list;
    a_time_leads_to_a_position => questions::seq_at;
    checkpoints_are_kept_set_aside_and_forgotten => questions::checkpoints;
    an_answer_is_kept_with_its_records_and_given_once => kept::answers;
    contents_are_kept_under_their_digests => kept::contents;
    tokens_are_found_by_their_hash_and_revoked => kept::tokens;
    a_project_is_leased_to_one_owner_until_it_lets_go => leases::hand_over;
    a_lease_that_ran_out_is_taken_over_and_its_owner_fenced => leases::take_over;
    owners_that_race_never_hold_a_live_lease_together => leases::race;
    deployments_are_listed_newest_first_with_how_they_stand => deployments::listed;
    services_are_found_without_reading_their_deployments => deployments::services;
    a_board_says_how_every_service_stands_at_any_time => board::board;
    the_records_of_a_deployment_come_with_their_paths => board::records;
    a_webhook_keeps_its_key_its_position_and_its_last_deliveries => kept::webhooks;
    a_log_goes_on_from_the_end_of_its_archive => archives::goes_on;
    what_loading_needs_is_not_archived => archives::limits;
    what_is_taken_up_again_is_not_archived => archives::race;
    an_archive_that_was_interrupted_has_lost_nothing => archives::interrupted;
    a_database_of_the_first_version_is_upgraded => upgrade::upgraded;
    a_verification_finds_what_was_changed => tamper::verify;
}
