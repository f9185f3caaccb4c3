DROP TABLE social_opt_outs, customer_handles, social_settings, auto_replies, reply_template_versions, reply_templates,
    conversation_messages, conversations, social_posts, social_hooks, social_owners, social_accounts;
